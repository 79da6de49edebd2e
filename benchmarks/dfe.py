"""The discriminative frequency estimate against scoring and counting the same rows."""

from __future__ import annotations

import numpy as np

from benchmarks._data import coded_set
from benchmarks._harness import Options, Row, best_of, cost, shape_text
from tanager import DFE, ChowLiu, Frequency, NaiveBayes
from tanager.inference import engine_for

PASSES = 4
REQUIRED = 5.0
SETS = ("weka33/mushroom", "large/adult")


def run(options: Options) -> list[Row]:
    """Four passes against four passes of scoring, and a fit against a frequency fit.

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
            ]
    return rows
