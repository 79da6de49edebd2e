"""Compressed bytes as text that can stand in an HTML page."""

from __future__ import annotations

import gzip

import numpy as np


def pack_bytes(content: bytes) -> str:
    """Compress bytes, and write four of them as five letters.

    The letters are those from ``(`` to ``}`` but ``<``, so that no text ends an element
    of HTML; they take 25 % more than the bytes, base64 33 %. The first letter is the
    number of bytes that were added to the last four. `page/binary_text.js` reads it.

    Examples
    --------
    >>> "<" in pack_bytes(bytes(range(256)))
    False
    """
    packed = gzip.compress(content, compresslevel=9, mtime=0)
    n_added = -len(packed) % 4
    rest = np.frombuffer(packed + bytes(n_added), dtype=">u4").astype(np.int64)
    digits = np.empty((len(rest), 5), dtype=np.uint8)
    for place in range(4, -1, -1):
        rest, digits[:, place] = np.divmod(rest, 85)
    letters = digits + ord("(")
    letters[letters == ord("<")] = ord("}")
    return str(n_added) + letters.tobytes().decode("ascii")
