"""What users hear of kernels that are compiled."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from tanager.utils import compile_notice
from tanager.utils.compile_notice import CompileNotice
from tanager.utils.progress_line import ProgressLine


def of(module):
    """An event of a function in a module."""
    function = SimpleNamespace(__module__=module)
    return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=function)})


@pytest.fixture
def clock(monkeypatch):
    """Seconds that a test sets."""
    now = SimpleNamespace(seconds=0.0)
    monkeypatch.setattr(compile_notice, "perf_counter", lambda: now.seconds)
    return now


def compile_for(notice, clock, seconds, module="tanager.data._kernels"):
    notice.on_start(of(module))
    clock.seconds += seconds
    notice.on_end(of(module))


def test_one_line_after_a_second(clock, capsys):
    notice = CompileNotice()
    compile_for(notice, clock, 0.7)
    assert capsys.readouterr().err == ""
    compile_for(notice, clock, 0.7)
    assert capsys.readouterr().err.count("\n") == 1
    compile_for(notice, clock, 5.0)
    assert capsys.readouterr().err == ""
    assert notice.n_kernels == 3
    assert notice.seconds == pytest.approx(6.4)


def test_kernels_inside_kernels_count_their_time_once(clock):
    notice = CompileNotice()
    notice.on_start(of("tanager.data._kernels"))
    compile_for(notice, clock, 0.3)
    notice.on_end(of("tanager.data._kernels"))
    assert notice.n_kernels == 2
    assert notice.seconds == pytest.approx(0.3)


def test_kernels_of_others_do_not_count(clock, capsys):
    notice = CompileNotice()
    compile_for(notice, clock, 9.0, "other.module")
    assert (notice.n_kernels, notice.seconds) == (0, 0.0)
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled"
)
def test_numba_tells_of_its_events(monkeypatch):
    import numba
    from numba.core import event

    notice = CompileNotice()
    notice.quiet = True
    monkeypatch.setattr(compile_notice, "_is_ours", lambda _: True)
    with event.install_listener("numba:compile", notice):
        assert numba.njit(lambda a: a + 1)(1) == 2
    assert notice.n_kernels == 1
    assert notice.seconds > 0


def test_the_line_is_not_glued_to_that_of_progress(clock, capsys, monkeypatch):
    line = ProgressLine()
    monkeypatch.setattr(ProgressLine, "drawn", line)
    compile_for(CompileNotice(), clock, 2.0)
    assert capsys.readouterr().err.startswith("\r\033[Ktanager is compiling")
    assert ProgressLine.drawn is None
