"""Progress, time limits and Ctrl-C of all learners: `watch`, `report`, `keep_best`.

An estimator opens a `watch` around its whole fit. Learners call `report` after every
step: it shows the step to whoever watches, and raises `StopFitError` if the time is up
or Ctrl-C was pressed. A learner with a best model so far puts `keep_best` around its
loop, and goes on with that model behind it. `check_stop` is `report` without a step,
for loops within a step; `map_threads` calls it for every item.

Notes
-----
The watch is a context variable and no argument. Reports come from the depth of solvers
and kernels' loops, which otherwise would all have to hand it down; a search may call
functions of users, and these fit models again; and a watch that is not there costs one
look. Threads of `map_threads` get it, those of others with `Watch.join`.

On Ctrl-C Python raises KeyboardInterrupt between two operations of the main thread,
whatever it does, and so does the handler of the outermost watch, which also keeps it in
mind: `keep_best` therefore has to wrap loops whose best state is always complete, and
kernels have to end soon. The first one
is kept by the first `keep_best` around it, and every later `report` of the same fit
raises, so that what follows ends after no step. Later ones are not kept, nor is one
within `AGAIN` seconds after one that ended another fit: with two of them the user
leaves a loop of fits, such as a grid search.

A checkpoint asks `has_ended_early`: what follows an early end is no part of the fit
that is to be resumed.
"""

from __future__ import annotations

import signal
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from math import inf
from threading import current_thread, main_thread
from time import perf_counter
from typing import Any

from tanager.errors import TimeLimitError
from tanager.utils.progress_line import ProgressLine, Report

GRACE = 0.3
"""Seconds that a learner may take for its result after it has ended early."""

AGAIN = 5.0
"""Seconds in which a second Ctrl-C ends everything, also after the first has ended one
fit of several."""


class StopFitError(BaseException):
    """Ends the work of a learner before it is done; never leaves a `watch`."""


@dataclass(eq=False)
class TimeLimit:
    """When work must end, by `time.perf_counter`, and whose limit it is."""

    ends: float = inf
    owner: Watch | None = None


@dataclass(eq=False)
class Cancel:
    """Whether work has been given up."""

    on: bool = False


@dataclass(eq=False)
class Watch:
    """Whom steps are shown to, and when to stop.

    `root` is the outermost watch, `fit` that of the estimator and `scope` that of the
    learner, None for itself;
    `asked` says whether a Ctrl-C has not ended anything yet, `interrupted` whether one
    has; `keeps` whether it may end with a best model; `catches` whether the work is
    within a `keep_best`, `has_model` whether one has ended, so that there is some
    model; `cancel` ends the work of threads whose result nobody needs; `cut` are the
    learners that ended early.
    """

    who: str = ""
    max_seconds: float | None = None
    line: ProgressLine | None = None
    limit: TimeLimit = field(default_factory=TimeLimit)
    root: Watch = None  # type: ignore[assignment] # itself
    keeps: bool = True
    catches: bool = False
    cancel: Cancel = field(default_factory=Cancel)
    asked: bool = False
    interrupted: bool = False
    scope: Watch = None  # type: ignore[assignment] # itself
    fit: Watch = None  # type: ignore[assignment] # itself
    has_model: bool = False
    ended_early: bool = False
    cut: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name in ("root", "scope", "fit"):
            if getattr(self, name) is None:
                setattr(self, name, self)

    def interrupt(self, *_: object) -> None:
        """Handle SIGINT: as Python does, but keep in mind that it came.

        An exception in the destructor of an object, or in a callback of a compiled
        function, is lost. Then the next step of the main thread raises it again.
        """
        self.asked = True
        raise KeyboardInterrupt

    def join(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Let a function report to this watch, whatever thread calls it."""

        def joined(*arguments: Any, **more: Any) -> Any:
            token = _current.set(self)
            try:
                return function(*arguments, **more)
            finally:
                _current.reset(token)

        return joined

    def helper(self) -> Watch:
        """A watch for threads that help with a part of the work."""
        helping = self.branch()
        helping.cancel = Cancel()
        return helping

    def branch(self) -> Watch:
        """A watch of a part of the work."""
        return Watch(
            self.who, self.max_seconds, self.line, self.limit, self.root, self.keeps,
            self.catches, self.cancel, scope=self.scope, fit=self.fit,
        )  # fmt: skip

    def announce(self, done: int, total: int, what: str) -> None:
        """Show which of several fits begins; a callback of `evaluate` and `tune`."""
        if self.line is not None:
            self.line.announce(f"[{done}/{total}] {what}")


_current: ContextVar[Watch | None] = ContextVar("tanager_watch", default=None)
_latest_interrupt = -inf


def has_ended_early() -> bool:
    """Whether a learner of the fit in progress has ended early.

    What follows is another computation than that of the whole fit, so a checkpoint must
    not keep it.
    """
    watch = _current.get()
    return watch is not None and watch.fit.ended_early


def current_watch() -> Watch | None:
    """The watch of the work in progress, if there is one."""
    return _current.get()


def report(
    who: object,
    step: int,
    total: int | None = None,
    *,
    unit: str = "step",
    bound: bool = False,
    goal: tuple[str, float] | None = None,
    note: str = "",
    values: Mapping[str, Any] | None = None,
    ends: bool = True,
) -> None:
    """Tell of a step that is done; raises `StopFitError` where no other may begin.

    Parameters
    ----------
    who : object or str
        The learner, or what is done.
    step, total : int and int or None
        Number of the step, and of the last one, if it is known.
    unit : str
        What a step is called.
    bound : bool
        Whether there may be fewer than `total` steps.
    goal : (str, float) or None
        Which of the values falls geometrically, and at which value the work ends.
    note : str
        What was done, in words.
    values : mapping from str to number or None
        Shown with their names.
    ends : bool
        Whether `StopFitError` may be raised.

    Examples
    --------
    >>> report("EM", 1, 200)  # nobody watches
    """
    watch = _current.get()
    if watch is None:
        return
    if watch.line is not None:
        name = who if isinstance(who, str) else type(who).__name__
        watch.line.show(
            Report(name, step, total, unit, bound, goal, note, values or {})
        )
    if watch.root.asked:
        _ask_again(watch.root)
    if ends and (
        watch.cancel.on
        or watch.root.interrupted
        or (watch.limit.ends < inf and perf_counter() > watch.limit.ends)
    ):
        raise StopFitError


def set_stage(name: str) -> None:
    """Say to which stage of a fit the following reports belong."""
    watch = _current.get()
    if watch is None:
        return
    if watch.line is not None:
        watch.line.stage = name
    if name == "parameters":
        watch.scope.has_model = True  # there are always frequencies


def check_stop() -> None:
    """Raise `StopFitError` if the work in progress must end.

    Other than `report` it lets a learner that has a best model finish it.
    """
    watch = _current.get()
    if watch is None:
        return
    if watch.root.asked:
        _ask_again(watch.root)
    ends = watch.limit.ends
    if watch.cancel.on or (
        ends < inf
        and (watch.catches or not watch.scope.has_model)
        and perf_counter() > ends
    ):
        raise StopFitError


def _ask_again(root: Watch) -> None:
    """Raise KeyboardInterrupt in the main thread, where it was lost."""
    if current_thread() is main_thread():
        root.asked = False
        raise KeyboardInterrupt


@contextmanager
def watch(
    who: object,
    max_seconds: float | None = None,
    *,
    verbose: bool = False,
    every: bool = False,
    keeps: bool = True,
    whole: bool = False,
) -> Iterator[Watch]:
    """Watch the work inside: show its steps, and end it in time.

    Parameters
    ----------
    who : object or str
        The estimator or learner whose limits these are.
    max_seconds : float or None
        Time after which the work ends.
    verbose : bool
        Whether steps are shown on standard error; otherwise only to an outer watch.
    every : bool
        Whether every step is a line of its own, if `verbose`.
    keeps : bool
        Whether Ctrl-C may end with the best model so far. False where the work is many
        fits: KeyboardInterrupt then ends all of them.
    whole : bool
        Whether the work is the fit of an estimator, and not a part of it.

    Warns
    -----
    ConvergenceWarning
        If learners have ended early, and there is a result nevertheless.

    Raises
    ------
    TimeLimitError
        If the time was up before there was any result.
    KeyboardInterrupt
        On Ctrl-C without a result.
    """
    outer = _current.get()
    name = who if isinstance(who, str) else type(who).__name__
    mine = Watch(name) if outer is None else outer.branch()
    mine.who, mine.max_seconds, mine.scope = name, max_seconds, mine
    mine.keeps &= keeps
    if whole:
        mine.fit = mine
    if verbose:
        mine.line = ProgressLine(every=every)
    if max_seconds is not None:
        ends = perf_counter() + max_seconds
        if ends < mine.limit.ends:
            mine.limit = TimeLimit(ends, mine)
    # Who ignores SIGINT, or handles it in another way, is left alone.
    handles = (
        outer is None
        and current_thread() is main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    token = None
    try:
        token = _current.set(mine)
        if handles:
            signal.signal(signal.SIGINT, mine.interrupt)
        yield mine
    except StopFitError:
        if mine.limit.owner is mine and perf_counter() > mine.limit.ends:
            raise TimeLimitError(
                f"{name}(max_seconds={max_seconds:g}) ended before there was a model. "
                "Raise max_seconds, or use fewer samples or a faster method."
            ) from None
        if outer is None:
            raise KeyboardInterrupt from None
        raise
    finally:
        # Ctrl-C may come at any of these steps, and must skip none of the others.
        try:
            if handles:
                _restore_handler(mine)
        finally:
            try:
                if token is not None:
                    _current.reset(token)
            finally:
                if mine.line is not None and verbose:
                    mine.line.close()
    if handles and mine.asked:  # the exception was lost after the last step
        raise KeyboardInterrupt
    if outer is not None and mine.has_model:
        outer.scope.has_model = True
    if mine.cut:
        _warn_cut(mine)


def _restore_handler(mine: Watch) -> None:
    """Handle SIGINT as before, unless somebody else does so now."""
    if signal.getsignal(signal.SIGINT) == mine.interrupt:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def time_share(fraction: float) -> Iterator[None]:
    """Give the work inside a fraction of the time that is left, if it is limited."""
    outer = _current.get()
    if outer is None or outer.limit.ends == inf or fraction == 1.0:
        yield
        return
    now = perf_counter()
    ends = now + fraction * (outer.limit.ends - now)
    inner = outer.branch()
    inner.limit = TimeLimit(ends, outer.limit.owner)
    token = _current.set(inner)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def grace() -> Iterator[None]:
    """Give what makes a result of an early end a little time, then leave it.

    It has the time that is left, and `GRACE` seconds in any case.
    """
    outer = _current.get() or Watch()
    now = perf_counter()
    inner = outer.branch()
    ends = outer.limit.ends
    known = ends < inf and not outer.root.interrupted
    inner.limit = TimeLimit(max(now + GRACE, ends if known else now), inner)
    inner.catches = True
    token = _current.set(inner)
    try:
        yield
    except StopFitError:
        if outer.cancel.on:
            raise
    finally:
        _current.reset(token)


@contextmanager
def keep_best(who: object, done: Callable[[], str]) -> Iterator[None]:
    """End the work inside early without an error: what comes next is the best so far.

    `done` says how far it came, such as "3 steps"; with "" there is no model yet, and
    the error goes on. The user is warned by the `watch`
    whose time was up, on Ctrl-C by the outermost, and without any watch at once.
    """
    here = _current.get()
    name = who if isinstance(who, str) else type(who).__name__
    alone = here is None
    if here is None:
        here = Watch(name)
    inner = here.branch()
    inner.catches = True
    token = _current.set(inner)
    try:
        yield
    except StopFitError:
        limits = here.root if here.root.interrupted else here.limit.owner
        if here.cancel.on or limits is None or not done():
            raise
        limits.cut.append((name, done()))
        here.fit.ended_early = True
    except KeyboardInterrupt:
        here.root.asked = False
        if not (done() and _keeps_interrupt(here)):
            raise
        here.root.interrupted = here.fit.ended_early = True
        here.root.cut.append((name, done()))
    finally:
        _current.reset(token)
        here.scope.has_model = True
    if alone and here.cut:
        _warn_cut(here)


def _keeps_interrupt(here: Watch) -> bool:
    """Whether a Ctrl-C may end with the best model so far: it is the first one."""
    global _latest_interrupt
    now = perf_counter()
    again = now - _latest_interrupt < AGAIN
    _latest_interrupt = now
    return here.keeps and not (here.root.interrupted or here.cancel.on or again)


def _warn_cut(watch: Watch) -> None:
    """Warn of the learners that ended early under a watch."""
    from sklearn.exceptions import ConvergenceWarning  # the commands need none

    own = len(watch.cut) == 1 and watch.cut[0][0] == watch.who
    learners = "; ".join(f"{name} after {done}" for name, done in watch.cut)
    if watch.interrupted:
        how = f" after {watch.cut[0][1]}" if own else f": {learners}"
        text = f"{watch.who} was interrupted{how}. The best so far is kept."
    else:
        how = f" and {watch.cut[0][1]}" if own else f": {learners}"
        text = (
            f"{watch.who} stopped after max_seconds={watch.max_seconds:g}{how}. The "
            "best so far is kept; raise max_seconds for a better one."
        )
    warnings.warn(text, ConvergenceWarning, stacklevel=5)
