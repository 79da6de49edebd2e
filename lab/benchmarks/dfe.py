"""DFE parameters against scoring and counting the same samples."""

from __future__ import annotations

import numpy as np

from lab.benchmarks._data import coded_set
from lab.benchmarks._harness import Options, Row, best_of, cost, faster, shape_text
from tanager import DFE, ELR, ChowLiu, Frequency, NaiveBayes
from tanager.inference import engine_for

PASSES = 4
REQUIRED = 5.0
REQUIRED_FASTER = 100.0
SETS = ("weka33/mushroom", "large/adult")


def run(options: Options) -> list[Row]:
    """Four passes against four passes of scoring, and a fit against other learners.

    All by one thread: the passes of the estimate cannot be shared out.
    """
    rows = []
    for name in SETS:
        data = coded_set(name)
        if options.quick:
            data = data.take(np.arange(2000))
        for title, learner in (("naive Bayes", NaiveBayes()), ("TAN", ChowLiu())):
            structure = learner.learn(data).structure
            engine = engine_for(Frequency().learn(structure, data))

            def score(engine=engine, codes=data.codes) -> None:
                for _ in range(PASSES):
                    engine.log_joint(codes, n_jobs=1)

            times = best_of(
                {
                    "estimate": lambda structure=structure, data=data: DFE(
                        passes=PASSES
                    ).learn(structure, data),
                    "score": score,
                    "count": lambda structure=structure, data=data: Frequency().learn(
                        structure, data
                    ),
                },
                options.pick(15, 2),
            )
            search = best_of(
                {
                    "elr": lambda structure=structure, data=data: ELR(
                        solver="cg"
                    ).learn(structure, data)
                },
                1,
            )
            what = f"{title}, {name}, {shape_text(data.codes)}"
            rows += [
                cost(
                    f"{PASSES} passes of DFE, {what}",
                    times["estimate"],
                    times["score"],
                    name=f"{PASSES} passes of log joint, one thread",
                    at_most=REQUIRED,
                ),
                cost(
                    f"DFE tables, {what}",
                    times["estimate"],
                    times["count"],
                    name="frequency tables",
                ),
                faster(
                    f"DFE tables, {what}",
                    times["estimate"],
                    search["elr"],
                    name="ELR by conjugate gradient with cross tuning",
                    at_least=REQUIRED_FASTER,
                ),
            ]
    return rows
