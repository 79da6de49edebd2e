"""Random changes of bytes, texts and JSON documents."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

MAX_CHANGES = 4
"""Changes of one input."""

MAX_BYTES = 200_000
"""Length of a changed input."""

MAX_PLACES = 200_000
"""Values inside a list that is repeated: repetitions of repetitions have no end."""

ODD_NUMBERS = (
    0, 1, -1, 2, 3, 255, 256, 2**31 - 1, 2**31, 2**63, 2**64, 10**30, 10**400,
    0.0, -0.0, 0.5, 1e-320, 1e300, -1e300, 1e308, 0.1, -0.6931471805599453,
)  # fmt: skip
ODD_TEXTS = (
    "", " ", "\x00", "\x1b[2J", "\u202e", "\ud800", "a" * 300, "nan", "inf", "None",
    "class", "../x.npz", "/etc/passwd", "\n", '"', "{", "\ufeff", "1", "ü" * 200,
)  # fmt: skip
NUMBER_TEXTS = (
    b"0", b"-1", b"1e308", b"1e999", b"nan", b"inf", b"99999999999999999999",
    b"0x10", b"1_000", b"\xd9\xa1", b"1e-400", b".5", b"1.", b"+1",
)  # fmt: skip


def mutate_bytes(random: Random, content: bytes, words: Sequence[bytes] = ()) -> bytes:
    """Change bytes: flip, cut, repeat, move, or insert words of a format."""
    for _ in range(random.randint(1, MAX_CHANGES)):
        content = random.choice(BYTE_CHANGES)(random, content, words)
    return content[:MAX_BYTES]


def _flip(random: Random, content: bytes, words: Sequence[bytes]) -> bytes:
    del words
    changed = bytearray(content)
    for _ in range(random.choice((1, 1, 2, 8))):
        if changed:
            changed[random.randrange(len(changed))] = random.randrange(256)
    return bytes(changed)


def _cut(random: Random, content: bytes, _: Sequence[bytes]) -> bytes:
    return content[: random.randint(0, len(content))]


def _remove(random: Random, content: bytes, _: Sequence[bytes]) -> bytes:
    start, stop = _span(random, content)
    return content[:start] + content[stop:]


def _repeat(random: Random, content: bytes, _: Sequence[bytes]) -> bytes:
    start, stop = _span(random, content)
    times = random.choice((1, 2, 2, 50, 2000))
    return content[:stop] + content[start:stop] * times + content[stop:]


def _move(random: Random, content: bytes, _: Sequence[bytes]) -> bytes:
    start, stop = _span(random, content)
    rest = content[:start] + content[stop:]
    place = random.randint(0, len(rest))
    return rest[:place] + content[start:stop] + rest[place:]


def _insert(random: Random, content: bytes, words: Sequence[bytes]) -> bytes:
    place = random.randint(0, len(content))
    word = random.choice(words or NUMBER_TEXTS)
    return content[:place] + word + content[place:]


def _swap_token(random: Random, content: bytes, words: Sequence[bytes]) -> bytes:
    """Replace a word of the content by one of the format, or another of its own."""
    tokens = content.split(b" ")
    known = (*words, *NUMBER_TEXTS, random.choice(tokens))
    tokens[random.randrange(len(tokens))] = random.choice(known)
    return b" ".join(tokens)


def _span(random: Random, content: bytes) -> tuple[int, int]:
    start = random.randint(0, len(content))
    length = random.choice((1, 2, 8, 30, 200))
    return start, min(start + length, len(content))


BYTE_CHANGES: tuple[Callable[[Random, bytes, Sequence[bytes]], bytes], ...] = (
    _flip, _flip, _cut, _remove, _repeat, _move, _insert, _insert, _swap_token,
)  # fmt: skip


def mutate_json(random: Random, text: str) -> bytes:
    """Change values, keys and lists of a JSON document."""
    changed = {"document": json.loads(text)}
    for _ in range(random.randint(1, MAX_CHANGES)):
        places = list(_places(changed))
        if not places:
            break
        holder, key = random.choice(places)
        change = random.randrange(8)
        if change == 0:
            del holder[key]
        elif change == 1:
            other, name = random.choice(places)
            holder[key] = json.loads(json.dumps(other[name]))
        elif change == 2 and isinstance(holder[key], list):
            times = random.choice((0, 2, 3, 500))
            if times * sum(1 for _ in _places(holder[key])) <= MAX_PLACES:
                holder[key] *= times
        elif change == 3 and isinstance(holder[key], dict):
            holder[key][random.choice(ODD_TEXTS)] = odd_value(random)
        elif change == 4 and isinstance(holder, dict):
            other = random.choice(list(holder))
            holder[key], holder[other] = holder[other], holder[key]
        elif change == 5:
            for _ in range(random.choice((1, 3, 20, 100))):
                holder[key] = random.choice(([holder[key]], {"list": [holder[key]]}))
        else:
            holder[key] = odd_value(random)
    found = json.dumps(changed.get("document"))
    if random.random() < 0.05:  # deeper than a document in memory can be made
        depth = random.choice((330, 1000, 50_000))
        nested = '{"list": [' * depth + "1" + "]}" * depth
        found = found.replace(random.choice(("null", "[]", "0", "1")), nested, 1)
    return found.encode("utf-8", "surrogatepass")[: 10 * MAX_BYTES]


def odd_value(random: Random) -> Any:
    """A JSON value, such as a limit of a type or an empty container."""
    kinds: tuple[Any, ...] = (
        None,
        True,
        False,
        [],
        {},
        [[]],
        {"part": "x", "arguments": {}},
    )
    return random.choice(
        (
            random.choice(kinds),
            random.choice(ODD_NUMBERS),
            random.choice(ODD_TEXTS),
            [random.choice(ODD_NUMBERS) for _ in range(3)],
        )
    )


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container inside a value with each of its keys."""
    keys = list(value) if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from _places(value[key])
