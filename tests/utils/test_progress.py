"""One mechanism reports progress, ends work in time, and on Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from textwrap import dedent

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from tanager.errors import TimeLimitError
from tanager.utils import progress
from tanager.utils.progress import (
    StopFitError,
    check_stop,
    current_watch,
    grace,
    has_ended_early,
    keep_best,
    report,
    time_share,
    watch,
)
from tanager.utils.progress_line import ProgressLine, Report
from tanager.utils.threads import map_threads


class FakeClock:
    """A clock that is set."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = FakeClock()
    monkeypatch.setattr(progress, "perf_counter", clock)
    monkeypatch.setattr("tanager.utils.progress_line.perf_counter", clock)
    return clock


def work(clock, seconds, done):
    """A learner that takes a second for every step."""
    with keep_best("Learner", lambda: f"{len(done)} steps"):
        for step in range(seconds):
            clock.now += 1.0
            done.append(step)
            report("Learner", step + 1, seconds)


def test_nobody_watches(clock):
    done = []
    work(clock, 3, done)
    assert done == [0, 1, 2]
    assert current_watch() is None


def test_time_ends_a_learner_with_what_it_has(clock):
    done = []

    def fit():
        with watch("Model", 2.5):
            work(clock, 9, done)
            assert has_ended_early()

    with pytest.warns(ConvergenceWarning) as caught:
        fit()
    assert len(done) == 3
    (warning,) = caught
    assert "Model stopped after max_seconds=2.5: Learner after 3 steps" in str(
        warning.message
    )
    assert current_watch() is None


def test_later_learners_end_at_their_first_report(clock):
    first, second = [], []

    def fit():
        with watch("Model", 2.5):
            work(clock, 9, first)
            work(clock, 9, second)

    with pytest.warns(ConvergenceWarning, match="after 3 steps; Learner after 1 steps"):
        fit()


def test_no_model_in_time_is_an_error(clock):
    def fit():
        with watch("Model", 1.0):
            clock.now = 2.0
            check_stop()

    with pytest.raises(TimeLimitError, match=r"Model\(max_seconds=1\) ended before"):
        fit()


def test_a_result_is_finished_after_the_time(clock):
    def fit():
        with watch("Model", 0.5):
            work(clock, 9, [])
            check_stop()  # somewhere in the rest of the fit
            return "model"

    with pytest.warns(ConvergenceWarning):
        assert fit() == "model"


def test_the_inner_limit_is_the_learners_own(clock):
    done, other = [], []

    def fit():
        with watch("Model", 100.0):
            with watch("Learner", 1.5):
                work(clock, 9, done)
            work(clock, 3, other)

    with pytest.warns(ConvergenceWarning, match="Learner stopped .*=1.5 and 2 "):
        fit()
    assert (len(done), len(other)) == (2, 3)


def test_an_outer_limit_that_is_shorter_holds(clock):
    done = []

    def fit():
        with watch("Model", 1.5), watch("Learner", 100.0):
            work(clock, 9, done)

    with pytest.warns(ConvergenceWarning, match="Model stopped after max_seconds=1.5"):
        fit()
    assert len(done) == 2


def test_a_share_of_the_time(clock):
    first, second = [], []

    def fit():
        with watch("Model", 10.0):
            with time_share(0.5):
                work(clock, 99, first)
            work(clock, 99, second)

    with pytest.warns(ConvergenceWarning):
        fit()
    assert (len(first), len(second)) == (6, 5)


def test_grace_is_short_and_silent(clock):
    reached = []

    def fit():
        with watch("Model", 1.5):
            work(clock, 9, [])
            with grace():
                check_stop()
                reached.append("in time")
                clock.now += 10.0
                check_stop()
                reached.append("too late")

    with pytest.warns(ConvergenceWarning):
        fit()
    assert reached == ["in time"]


def test_nothing_is_kept_without_a_model():
    def fit():
        with watch("Model"), keep_best("Learner", lambda: ""):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit()


def test_the_first_ctrl_c_is_kept_and_the_second_is_not(clock):
    def fit(times):
        with watch("Model"):
            for _ in range(times):
                with keep_best("Learner", lambda: "1 step"):
                    raise KeyboardInterrupt
            return "model"

    with pytest.warns(ConvergenceWarning, match="Model was interrupted: Learner after"):
        assert fit(1) == "model"
    with pytest.raises(KeyboardInterrupt):
        fit(2)


def test_a_second_ctrl_c_ends_a_loop_of_fits(clock, monkeypatch):
    monkeypatch.setattr(progress, "AGAIN", 5.0)
    monkeypatch.setattr(progress, "_latest_interrupt", -np.inf)

    def fit():
        with watch("Model"), keep_best("Learner", lambda: "1 step"):
            raise KeyboardInterrupt

    with pytest.warns(ConvergenceWarning):
        fit()
    clock.now = 4.0
    with pytest.raises(KeyboardInterrupt):
        fit()
    clock.now = 40.0
    with pytest.warns(ConvergenceWarning):
        fit()


def test_many_fits_end_together():
    def compare():
        with watch("evaluate", keeps=False):
            for _ in range(2):
                with watch("Model"), keep_best("Learner", lambda: "1 step"):
                    raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare()


@pytest.mark.usefixtures("default_handler")
def test_a_lost_ctrl_c_is_raised_again():
    def fit():
        with watch("Model"):
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)  # swallowed by somebody
            check_stop()

    with pytest.raises(KeyboardInterrupt):
        fit()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.fixture
def default_handler():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("default_handler")
def test_the_handler_of_others_is_left_alone():
    for other in (signal.SIG_IGN, lambda *_: None):
        signal.signal(signal.SIGINT, other)
        with watch("Model"):
            assert signal.getsignal(signal.SIGINT) is other
        assert signal.getsignal(signal.SIGINT) is other


def test_other_threads_have_no_handler():
    seen = []

    def fit():
        with watch("Model"):
            seen.append(signal.getsignal(signal.SIGINT))

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=fit)
    thread.start()
    thread.join()
    assert seen == [before]


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_threads_report_to_the_watch_and_end_in_time(clock, n_jobs):
    done = []

    def item(number):
        done.append(number)
        clock.now += 1.0

    def fit():
        with watch("Model", 5.5), keep_best("Learner", lambda: "items"):
            map_threads(item, range(1000), n_jobs)

    with pytest.warns(ConvergenceWarning):
        fit()
    assert 5 < len(done) < 12


@pytest.mark.parametrize("ends_first", [True, False])
def test_threads_end_on_ctrl_c(ends_first):
    started, given_up = threading.Event(), []

    def item(number):
        if threading.current_thread() is threading.main_thread():
            started.wait()
            raise KeyboardInterrupt
        started.set()
        try:
            while True:
                check_stop()
        except StopFitError:
            given_up.append(number)
            raise

    def fit():
        with watch("Model"), keep_best("Learner", lambda: "items" * ends_first):
            map_threads(item, range(2), 2)

    before = threading.active_count()
    if ends_first:
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            fit()
    else:
        with pytest.raises(KeyboardInterrupt):
            fit()
    assert len(given_up) == 1
    assert threading.active_count() == before


def test_the_error_of_the_first_item_is_raised():
    def item(number):
        raise ValueError(str(number))

    with pytest.raises(ValueError, match="0"):
        map_threads(item, range(8), 4)


def test_lines_come_at_a_bounded_rate(clock, capsys):
    line = ProgressLine()
    for step in range(1, 101):
        clock.now += 0.5
        line.show(Report("Learner", step, 100, values={"score": 2.0 * step}))
    line.close()
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == ("Learner: step 4 of 100 (2 s, about 48 s left): score 8")
    assert len(lines) < 22
    assert lines[-1] == "Learner: step 100 of 100 (49.5 s): score 200"


def test_short_work_shows_nothing(clock, capsys):
    line = ProgressLine()
    for step in range(100):
        clock.now += 0.019
        line.show(Report("Learner", step))
    line.close()
    assert capsys.readouterr().err == ""


def test_a_terminal_has_one_line(clock, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "30")
    line = ProgressLine()
    line.stage = "structure"
    for step in range(1, 9):
        clock.now += 1.0
        line.show(Report("A learner with a name", step, 8, bound=True))
    line.close()
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1
    assert "structure, A learner with a n" in shown
    assert shown.endswith("step 8 of at most 8 (7.0 s)\n")
    assert ProgressLine.drawn is None


FIT = """
    import os, signal, threading, sys, warnings, time
    import numpy as np
    from tanager import BayesNetClassifier, {learner}
    from tanager.utils import progress

    calls, at = 0, {at}
    real = progress.report

    def counted(log_joint, labels, weights):
        global calls
        calls += 1
        if calls == at:
            os.kill(os.getpid(), signal.SIGINT)
        if calls == {again}:
            os.kill(os.getpid(), signal.SIGINT)
        return float((log_joint.argmax(axis=1) == labels).sum())

    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (200, 8)).astype(float)
    y = (X[:, 0] + X[:, 1] > 2).astype(int)
    files = set(os.listdir("."))
    model = BayesNetClassifier("categorical", {learner}(score=counted), "fe", n_jobs=2)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(X, y)
        print("model", len(model.network_.edges), [str(w.message) for w in caught])
    except KeyboardInterrupt:
        print("KeyboardInterrupt", hasattr(model, "network_"))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert threading.active_count() == 1, threading.enumerate()
    assert progress.current_watch() is None
    assert set(os.listdir(".")) == files
"""


def run(script, folder, *, ignore=False):
    """Run a script in a process of its own, whose SIGINT is as in a terminal."""

    def prepare():
        signal.signal(
            signal.SIGINT, signal.SIG_IGN if ignore else signal.default_int_handler
        )

    return subprocess.run(
        [sys.executable, "-c", dedent(script)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=prepare,
    )


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
@pytest.mark.parametrize(("at", "again"), [(2, 0), (40, 0), (90, 0), (40, 41)])
def test_sigint_leaves_nothing_behind(at, again, tmp_path):
    script = FIT.format(learner="GreedyKTree", at=at, again=again)
    done = run(script, tmp_path)
    assert done.returncode == 0, done.stderr
    if again:
        # The second one comes before the first has been looked at, or after.
        assert done.stdout.startswith(("KeyboardInterrupt False", "model"))
    else:
        assert done.stdout.startswith("model"), done.stdout
        assert "was interrupted: GreedyKTree after" in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
def test_who_ignores_sigint_goes_on(tmp_path):
    script = FIT.format(learner="GreedyKTree", at=2, again=0).replace(
        "is signal.default_int_handler", "is signal.SIG_IGN"
    )
    done = run(script, tmp_path, ignore=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("model")
    assert "interrupted" not in done.stdout
