"""The text of a BIF file as tokens with their places."""

from __future__ import annotations

import re
from typing import NamedTuple

from tanager.errors import FileFormatError
from tanager.io.bif_properties import brief

KEYWORDS = frozenset(
    {"network", "variable", "probability", "property"}
    | {"type", "discrete", "default", "table"}
)
"""Words with a meaning in BIF; they are no names."""

_COMMENT = re.compile(r'"[^"\n]*"|//[^\n]*|/\*.*?\*/|/\*|"', re.DOTALL)
_TOKEN = re.compile(r'\s*(?:"([^"\n]*)"|([{}()\[\];|,])|([^\s{}()\[\];|,"]+)|$)')
_PROPERTY = re.compile(r'([^;{}"]*(?:"[^"\n]*"[^;{}"]*)*);')
_WORD = re.compile(r'[^\s{}()\[\];|,"]+')
_COMMON = re.compile(r"[A-Za-z_][\w.-]*|-?\d+", re.ASCII)
_SHOWN = 40


class Token(NamedTuple):
    """A piece of the text and the place where it begins.

    `kind` is "word", "string" (in quotes), "mark" (punctuation) or "end"; `text` has no
    quotes.
    """

    kind: str
    text: str
    place: int

    @property
    def is_name(self) -> bool:
        """Whether it can be (a part of) the name of a variable or state."""
        return self.kind in ("word", "string")

    def says(self, text: str) -> bool:
        """Whether it is this keyword or mark, not in quotes."""
        return self.text == text and self.kind != "string"

    def __str__(self) -> str:
        if self.kind == "end":
            return "the end of the file"
        more = "..." if len(self.text) > _SHOWN else ""
        return repr(self.text[:_SHOWN] + more)


def is_word(text: str) -> bool:
    """Whether a text needs no quotes in a BIF file."""
    return (
        _WORD.fullmatch(text) is not None
        and text.isprintable()
        and text not in KEYWORDS
        and "//" not in text
        and "/*" not in text
    )


def is_common_word(text: str) -> bool:
    """Whether all programs read a text without quotes, as a state at least.

    pyAgrum reads ASCII letters and digits with ``_ . -``, and whole numbers.
    """
    return _COMMON.fullmatch(text) is not None and text not in KEYWORDS


class BifText:
    """The text of a file, read token by token; `what` begins error messages.

    Comments are blanked out, so that places stay the same.
    """

    def __init__(self, content: bytes, what: str) -> None:
        self._what = what
        try:
            self.text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise FileFormatError(
                f"{what} is not UTF-8 text: byte 0x{content[error.start]:02x} at "
                f"offset {error.start}; save it as UTF-8."
            ) from None
        if "\0" in self.text:
            place = self.text.index("\0")
            raise self.error("there is a byte of zero, so it is no text.", place)
        if not self.text.strip():
            raise FileFormatError(f"{what} is empty.")
        # Each mark of a line's end becomes one that is as long.
        self.text = self.text.replace("\r\n", " \n").replace("\r", "\n")
        self.text = _COMMENT.sub(self._without_comment, self.text)
        self.position = 0

    def _without_comment(self, found: re.Match[str]) -> str:
        text = found[0]
        if text in ('"', "/*"):
            kind = "quoted name" if text == '"' else "comment"
            raise self.error(
                f"the {kind} that begins here does not end.", found.start()
            )
        if text.startswith('"'):
            return text
        return "\n".join(" " * len(line) for line in text.split("\n"))

    def error(self, message: str, place: int) -> FileFormatError:
        """An error with line and column, to be raised."""
        line = self.text.count("\n", 0, place) + 1
        column = place - self.text.rfind("\n", 0, place)
        where = f"{self._what}, line {line}, column {column}"
        return FileFormatError(f"{where}: {brief(message)}")

    def take(self) -> Token:
        """The next token."""
        token = self.peek()
        self.position = self._end
        return token

    def peek(self) -> Token:
        """The next token, without taking it."""
        found = _TOKEN.match(self.text, self.position)
        if found is None:  # the pattern takes everything but a quote that does not end
            raise self.error("a quoted name does not end.", self.position)
        self._end = found.end()
        group = found.lastindex
        if group is None:
            return Token("end", "", len(self.text.rstrip()))
        kind = ("string", "mark", "word")[group - 1]
        place = found.start(group) - (kind == "string")
        return Token(kind, found[group], place)

    def expect(self, mark: str, where: str) -> Token:
        """Take a token that is required; `where` says after what."""
        token = self.take()
        if not token.says(mark):
            raise self.error(f"expected {mark!r} {where}, got {token}.", token.place)
        return token

    def groups(self, end: str, where: str) -> list[list[Token]]:
        """Names up to a closing mark, split at commas and ``|``, itself a group."""
        groups: list[list[Token]] = [[]]
        while True:
            token = self.take()
            if token.is_name:
                groups[-1].append(token)
            elif token.text == ",":
                groups.append([])
            elif token.text == "|":
                groups += [[token], []]
            elif token.text == end:
                return [group for group in groups if group]
            else:
                raise self.error(f"expected {end!r} {where}, got {token}.", token.place)

    def property(self) -> tuple[str, int]:
        """The text of a property, after its keyword, and where it begins."""
        found = _PROPERTY.match(self.text, self.position)
        if found is None:
            raise self.error("expected ';' at the end of a property.", self.position)
        self.position = found.end()
        return found[1], found.start(1)


def join_words(group: list[Token]) -> str:
    """A name of several words: some programs write blanks without quotes."""
    return " ".join(token.text for token in group)
