from __future__ import annotations

import os

import pytest

HAS_JIT = os.environ.get("NUMBA_DISABLE_JIT") != "1"


@pytest.mark.skipif(not HAS_JIT, reason="nothing is compiled")
def test_it_says_how_much_was_compiled(tanager):
    result = tanager("warmup", "--models", "NB+FE")
    assert result.exit_code == 0
    assert "[1/2] NB+FE" in result.stderr
    assert "kernels in" in result.stdout


def test_unknown_models_are_errors(tanager):
    result = tanager("warmup", "--models", "NB+FE,no-such-model")
    assert result.exit_code != 0
    assert "no-such-model" in result.stderr


@pytest.mark.skipif(HAS_JIT, reason="JIT is on")
def test_without_jit_there_is_nothing_to_do(tanager):
    result = tanager("warmup")
    assert result.exit_code == 1
    assert "NUMBA_DISABLE_JIT" in result.stderr


@pytest.mark.skipif(not HAS_JIT, reason="nothing is compiled")
def test_a_cache_that_cannot_be_kept_is_an_error(tanager, monkeypatch):
    monkeypatch.setattr("tanager.utils.kernel_cache.is_kept", lambda _: False)
    result = tanager("warmup", "--models", "NB+FE")
    assert result.exit_code == 1
    assert "NUMBA_CACHE_DIR" in result.stderr
