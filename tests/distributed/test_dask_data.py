"""Parts on workers: rounds, values that are lost, errors and what is left behind."""

import gc
from time import sleep

import numpy as np
import pytest

from tanager.errors import CapabilityError, InputError, PartitionError
from tests.partitions import cut, make_data

dask = pytest.importorskip("dask")

from tanager.distributed.dask_data import DaskData  # noqa: E402
from tanager.distributed.part_state import _SHELVES  # noqa: E402


def on_workers(client, data, n_parts):
    parts = cut(data, n_parts).parts
    return DaskData(client, data.schema, [dask.delayed(part) for part in parts])


@pytest.mark.parametrize("n_parts", [1, 2, 7, 20])
def test_counts_are_those_of_all_rows(client, n_parts):
    data = make_data(missing=0.1, unlabelled=0.1)
    with on_workers(client, data, n_parts) as there:
        families = [(6, 0), (6, 1, 2), (6,)]
        assert (there.count(families).values == data.count(families).values).all()
        assert (there.count_pairs().values == data.count_pairs().values).all()
        assert there.n_samples == data.n_samples
        report = there.traffic.report(n_parts)
    assert report["rounds"] == 3
    assert report["bytes_from_parts"] > 8 * there.schema.n_states.prod() // 100


def _start(part, own, factor):
    return [own * factor * part.n_samples]


def _append(values, value):
    return [*values, value]


def _total(values):
    return float(np.sum(values))


def _hand_on(values, before):
    return [*before, values[0]]


def test_values_are_updated_and_made_again(client):
    data = make_data(100)
    with on_workers(client, data, 3) as there:
        placed = there.place(_start, 2.0, each=[1.0, 1.0, 1.0])
        assert placed.sum(_total) == 200.0
        placed.update(_append, 1.0)
        assert placed.sum(_total) == 203.0
        for shelf in list(_SHELVES.values()):  # as after the death of a worker
            shelf.held.clear()
        placed.update(_append, 2.0)
        assert placed.collect(_total) == [
            2.0 * part.n_samples + 3.0 for part in cut(data, 3).parts
        ]
        assert there.traffic.repeated_parts == 3
        assert placed.fold(_hand_on, []) == [
            2.0 * part.n_samples for part in cut(data, 3).parts
        ]


def test_an_old_value_is_brought_up_to_date(client):
    """A worker that has lost a part and gets it back has a value of an old version."""
    with on_workers(client, make_data(100), 2) as there:
        placed = there.place(_start, 1.0, each=[1.0, 1.0])
        placed.sum(_total)
        kept = {
            part: {token: (one.value, 0) for token, one in shelf.held.items()}
            for part, shelf in _SHELVES.items()
        }
        for step in range(3):
            placed.update(_append, float(step))
            placed.sum(_total)
        for part, shelf in _SHELVES.items():
            for token, (value, version) in kept.get(part, {}).items():
                shelf.held[token].value = value
                shelf.held[token].version = version
        assert placed.sum(_total) == 100.0 + 2 * (0.0 + 1.0 + 2.0)


def test_values_go_when_their_placement_does(client):
    with on_workers(client, make_data(100), 2) as there:
        placed = there.place(_start, 1.0, each=[1.0, 1.0])
        placed.sum(_total)
        token = placed._token
        assert sum(token in shelf.held for shelf in _SHELVES.values()) == 2
        del placed
        gc.collect()
        assert there.n_samples == 100  # the next order says what is over
        assert not any(token in shelf.held for shelf in _SHELVES.values())


def _fail(part):
    if part.n_samples > 20:
        raise ZeroDivisionError("no such thing")
    return 0


def test_a_partition_that_fails_names_itself(client):
    data = make_data(100)
    parts = [data.take(np.arange(a)) for a in (3, 30, 4)]
    tasks = [dask.delayed(part) for part in parts]
    with DaskData(client, data.schema, tasks) as there:
        with pytest.raises(
            PartitionError, match=r"Partition 1 of 3.*ZeroDivisionError"
        ):
            there.place(_same).sum(_fail)
        with pytest.raises(InputError, match=r"too small.*partition \d"):
            there.place(_same).sum(_refuse)
        assert there.count([(6,)]).values.sum() == 37


def _same(part):
    return part


def _refuse(part):
    raise InputError("This is too small.")


def test_a_partition_that_cannot_be_read_names_itself(client):
    data = make_data(100)

    @dask.delayed
    def read():
        raise OSError("the file is damaged")

    with (
        DaskData(client, data.schema, [dask.delayed(data), read()]) as there,
        pytest.raises(PartitionError, match=r"Partition 1 of 2.*file is damaged"),
    ):
        there.count([(6,)])


def test_nothing_is_left_behind(client):
    with on_workers(client, make_data(100), 3) as there:
        there.count([(6,)])
    assert not there.futures
    for _ in range(100):  # the client releases them in another thread
        gc.collect()
        if not client.futures:
            break
        sleep(0.1)
    assert not client.futures


def test_a_closed_client_is_refused():
    from distributed import Client

    with Client(
        n_workers=1, processes=False, dashboard_address="127.0.0.1:0",
        threads_per_worker=1,
    ) as short:  # fmt: skip
        there = on_workers(short, make_data(100), 2)
        assert there.n_samples == 100
    with pytest.raises(PartitionError, match="client is closed"):
        there.count([(6,)])
    there.close()


def test_rows_are_not_handed_over(client):
    with (
        on_workers(client, make_data(100), 2) as there,
        pytest.raises(CapabilityError, match="partitions"),
    ):
        there.blocks()
