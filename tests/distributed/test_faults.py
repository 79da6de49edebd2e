"""Workers that die or join during a fit, on a cluster of processes."""

import os
import signal

import numpy as np
import pytest

from tests.partitions import cut, make_data

dask = pytest.importorskip("dask")

from tanager.distributed.dask_data import LOOK_SECONDS, DaskData  # noqa: E402

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield cluster, client


def _start(part):
    return [float(part.labels.sum())]


def _append(values, value):
    return [*values, value]


def _total(values):
    return float(np.sum(values))


def _worker_of(values):
    return os.getpid()


def test_values_survive_the_death_of_their_worker(cluster):
    _, client = cluster
    data = make_data(1000)
    tasks = [dask.delayed(part) for part in cut(data, 5).parts]
    with DaskData(client, data.schema, tasks) as there:
        placed = there.place(_start)
        expected = float(data.labels.sum())
        for step in range(3):
            placed.update(_append, float(step))
            expected += 5 * step
            assert placed.sum(_total) == expected
            os.kill(placed.collect(_worker_of)[0], signal.SIGKILL)
            assert placed.sum(_total) == expected
        assert there.traffic.repeated_parts + there.traffic.repeated_rounds > 0
        counts = there.count([(6, 0)]).values
        assert (counts == data.count([(6, 0)]).values).all()


def test_a_worker_dies_when_it_has_the_result(cluster, monkeypatch):
    """Between the end of a round and the message with its result."""
    _, client = cluster
    data = make_data(1000)
    expected = float(data.labels.sum())
    gather = client.gather
    killed = []

    def kill_and_gather(futures):
        from distributed import wait

        wait(futures)
        if not killed:
            killed.extend(client.run(os.getpid).values())
            for pid in killed:
                os.kill(pid, signal.SIGKILL)
        return gather(futures)

    with DaskData(client, data.schema, [dask.delayed(cut(data, 1).parts[0])]) as there:
        placed = there.place(_start)
        assert placed.sum(_total) == expected
        monkeypatch.setattr(client, "gather", kill_and_gather)
        assert placed.sum(_total) == expected
        assert killed
        assert there.traffic.repeated_rounds > 0


def test_a_worker_that_joins_late_is_used(cluster):
    from time import sleep

    local, client = cluster
    data = make_data(1000)
    tasks = [dask.delayed(part) for part in cut(data, 6).parts]
    with DaskData(client, data.schema, tasks) as there:
        placed = there.place(_start)
        before = set(placed.collect(_worker_of))
        local.scale(3)
        client.wait_for_workers(3, timeout=60)
        sleep(LOOK_SECONDS)
        after = set(placed.collect(_worker_of))
        assert len(after) == 3 > len(before)
        assert placed.sum(_total) == float(data.labels.sum())
