import pytest
from sklearn.exceptions import ConvergenceWarning

from tanager.optim import Monitor, warn_not_converged


def test_records_are_numbered_and_timed():
    monitor = Monitor()
    monitor.record(objective=2.0)
    monitor.record(objective=1.0)
    assert [step["iteration"] for step in monitor.trace] == [1, 2]
    assert [step["objective"] for step in monitor.trace] == [2.0, 1.0]
    assert 0 <= monitor.trace[0]["seconds"] <= monitor.trace[1]["seconds"]


def test_given_values_win_over_the_default_ones():
    monitor = Monitor()
    monitor.record(iteration=7, seconds=0.5)
    assert monitor.trace == [{"iteration": 7, "seconds": 0.5}]


def test_warnings_name_the_learner_and_the_remedy():
    def learn(depth=0):
        if depth < 2:
            return learn(depth + 1)
        return warn_not_converged(Monitor(), "stopped after 5 steps", "raise max_iter")

    message = r"^Monitor stopped after 5 steps; raise max_iter\.$"
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        learn()
    assert caught[0].filename == __file__
