"""Predictions under load: threads, processes, event loops, many fits."""

import asyncio
import gc
import multiprocessing
import tracemalloc
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

from tanager import BayesNetClassifier


def make_data(n_rows=300):
    random = np.random.default_rng(0)
    y = random.integers(0, 3, n_rows)
    return np.column_stack([y + random.normal(size=n_rows) for _ in range(4)]), y


@pytest.fixture(scope="module", params=["tan", "auto"])
def fitted(request):
    X, y = make_data()
    parameters = "fe" if request.param == "tan" else "auto"
    model = BayesNetClassifier("auto", request.param, parameters, random_state=0)
    model.fit(X, y)
    return model, X, model.predict_proba(X)


def test_eight_threads_on_one_model(fitted):
    model, X, expected = fitted
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(model.predict_proba, [X] * 40):
            assert np.array_equal(found, expected)
        single = list(pool.map(lambda i: model.predict_proba(X[i : i + 1]), range(80)))
    assert np.allclose(np.concatenate(single), expected[:80], rtol=0, atol=1e-12)


def predict(model, X):
    return model.predict_proba(X)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_give_the_same_bits(fitted, method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {method}")
    model, X, expected = fitted
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        jobs = [pool.submit(predict, model, X) for _ in range(4)]
        for job in jobs:
            assert np.array_equal(job.result(timeout=300), expected)


def test_inside_a_running_event_loop(fitted):
    """As in a notebook: a loop runs already, and work goes to threads of it."""
    model, X, expected = fitted
    data = make_data(60)

    async def work():
        again = BayesNetClassifier("auto", "tan", "fe", n_jobs=2).fit(*data)
        jobs = [asyncio.to_thread(model.predict_proba, X) for _ in range(4)]
        return again.predict_proba(data[0]), await asyncio.gather(*jobs)

    own, found = asyncio.run(work())
    assert own.shape == (60, 3)
    assert all(np.array_equal(one, expected) for one in found)


@pytest.mark.slow
def test_many_fits_do_not_gather_memory():
    X, y = make_data(60)
    model = BayesNetClassifier("width", "tan", "fe")

    def fit(times):
        for _ in range(times):
            model.fit(X, y).predict_proba(X[:5])
        gc.collect()

    fit(50)
    tracemalloc.start()
    try:
        fit(50)
        before = tracemalloc.get_traced_memory()[0]
        fit(400)
        after = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert after - before < 200_000  # 500 bytes for each fit
