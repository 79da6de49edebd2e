from tanager.optim import Monitor


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
