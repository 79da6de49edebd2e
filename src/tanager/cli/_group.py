"""The group of commands, which turns errors into one line and an exit code."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

import click

from tanager.cli._terminal import say

INTERRUPTED = 130  # exit code after Ctrl-C, as shells have it


class Commands(click.Group):
    """Commands whose expected errors are one line, never a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order in which one meets the commands."""
        del ctx
        return list(self.commands)

    def main(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        **extra: Any,
    ) -> NoReturn:
        """Run a command and exit: 0 done, 1 an error, 2 wrong usage, 130 Ctrl-C."""
        sys.exit(self._run(args, prog_name, extra))

    def _run(
        self, args: Sequence[str] | None, prog_name: str | None, extra: dict[str, Any]
    ) -> int:
        extra["standalone_mode"] = False
        if not (sys.argv[1:] if args is None else args):
            args = ["--help"]
        try:
            _escape_unknown_characters()
            with _plain_warnings():
                code = super().main(args, prog_name, **extra)
                if sys.stdout is not None:
                    sys.stdout.flush()
            return code if isinstance(code, int) else 0
        except click.UsageError as error:
            hint = ""
            if error.ctx is not None:
                hint = f" See '{error.ctx.command_path} --help'."
            return _fail(error.format_message() + hint, 2)
        except click.ClickException as error:
            return _fail(error.format_message(), error.exit_code)
        except (click.Abort, KeyboardInterrupt):
            say("Interrupted.")
            return INTERRUPTED
        except BrokenPipeError:
            # Whoever read the output has enough. What is left in the buffer must
            # not raise again when the interpreter ends.
            # (A stream without a descriptor has no such buffer.)
            with open(os.devnull, "w") as nowhere, suppress(OSError, AttributeError):
                os.dup2(nowhere.fileno(), sys.stdout.fileno())
            return 0
        except OSError as error:
            where = f"'{error.filename}': " if error.filename else ""
            return _fail(f"{where}{error.strerror or error}.", 1)
        except MemoryError:
            return _fail(
                "There is not enough memory. Use fewer rows or columns, or a coarser "
                "--encoder.",
                1,
            )
        except Exception as error:
            # Imported only now: it brings NumPy, which --help must not wait for.
            from tanager.errors import TanagerError

            if not isinstance(error, TanagerError):
                raise
            return _fail(str(error), 1)


def _fail(message: str, code: int) -> int:
    say("Error: " + " ".join(message.split()))
    return code


def _escape_unknown_characters() -> None:
    """Let a terminal that lacks a character show an escape instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Show every warning once, as one line without file and line number."""
    shown: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        text = " ".join(str(message).split())
        if text not in shown:  # every fold of an evaluation warns of the same column
            shown.add(text)
            say(f"Warning: {text}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield
