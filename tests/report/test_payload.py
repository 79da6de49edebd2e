"""Arrays survive packing, to the precision that the page needs."""

import gzip
import json
import struct

import numpy as np
import pytest

from tanager.errors import InputError
from tanager.report.class_contrasts import CONTRAST_STEP, class_contrasts
from tanager.report.payload import STEP, ZERO_PROBABILITY, Payload


def read_letters(text):
    """The bytes of a text, digit by digit."""
    alphabet = [chr(40 + digit) for digit in range(85)]
    alphabet[alphabet.index("<")] = "}"
    found = b""
    for start in range(1, len(text), 5):
        number = 0
        for letter in text[start : start + 5]:
            number = 85 * number + alphabet.index(letter)
        found += number.to_bytes(4, "big")
    return found[: len(found) - int(text[0])]


def unpack(text):
    """Slow reading of a payload, number by number."""
    content = gzip.decompress(read_letters(text))
    (length,) = struct.unpack("<I", content[:4])
    header = json.loads(content[4 : 4 + length])
    place, arrays = 4 + length, {}
    widths = {"log": 7, "integer": 7, "float": 4, "error": 1, "code": 2, "whole": 8}
    for entry in header["arrays"]:
        width, size = widths[entry["kind"]], entry["size"]
        planes = content[place : place + width * size]
        place += width * size
        rows = [bytes(planes[b * size + i] for b in range(width)) for i in range(size)]
        if entry["kind"] == "log":
            current, found = 0, []
            for row in rows:
                z = int.from_bytes(row, "little")
                current += z // 2 if z % 2 == 0 else -(z + 1) // 2
                found.append(-np.inf if current == ZERO_PROBABILITY else current * STEP)
        elif entry["kind"] == "integer":
            found = [int.from_bytes(row, "little") for row in rows]
            found = [z // 2 if z % 2 == 0 else -(z + 1) // 2 for z in found]
        elif entry["kind"] == "float":
            found = [struct.unpack("<f", row)[0] for row in rows]
        elif entry["kind"] == "error":
            found = [0.0 if row[0] == 0 else 2 ** ((row[0] - 200) / 12) for row in rows]
        elif entry["kind"] == "whole":
            steps = [int.from_bytes(row, "little") for row in rows]
            found = [sum(steps[: i + 1]) % 2**64 for i in range(size)]
            found = [v - 2**64 if v >= 2**63 else v for v in found]
        else:
            found = [int.from_bytes(row, "little") for row in rows]
        arrays[entry["name"]] = np.array(found)
    assert place == len(content)
    return header, arrays


def test_arrays_survive():
    random = np.random.default_rng(0)
    payload = Payload()
    logs = random.normal(0, 5, 200)
    logs[[3, 4, 199]] = -np.inf
    logs[7], logs[8] = -745.0, 4096.0
    codes = random.integers(0, 65_536, 50)
    floats = random.gamma(1.0, 100.0, 30)
    errors = np.array([0.0, 0.01, 0.5, 3.0])
    payload.add_logs("logs", logs)
    payload.add_codes("codes", codes)
    payload.add_floats("floats", floats)
    payload.add_errors("errors", errors)
    header, found = unpack(payload.pack({"title": "é\ud800<"}))
    assert header["title"].startswith("é")
    np.testing.assert_allclose(found["logs"], logs, rtol=0, atol=STEP / 2)
    np.testing.assert_array_equal(found["codes"], codes)
    np.testing.assert_allclose(found["floats"], floats, rtol=1e-6)
    np.testing.assert_allclose(found["errors"], errors, rtol=0.04)


def test_the_same_content_gives_the_same_text():
    def text():
        payload = Payload()
        payload.add_logs("logs", np.array([0.25, -0.5]))
        return payload.pack({"title": "a"})

    assert text() == text()


@pytest.mark.parametrize("value", [np.nan, np.inf, 5000.0])
def test_numbers_that_no_page_can_show(value):
    with pytest.raises(InputError, match="log weight above 4096"):
        Payload().add_logs("logs", np.array([value]))


def restore(whole, decimals):
    """A number from its stored form."""
    if decimals >= 0:
        return whole / 10.0**decimals
    bits = whole if whole >= 0 else whole ^ (2**63 - 1)
    return struct.unpack("<d", struct.pack("<q", bits))[0]


def test_sorted_numbers_are_exact():
    random = np.random.default_rng(0)
    columns = [
        np.array([-1.25, 0.5, 3.0]),
        np.sort(random.normal(size=20)),
        np.array([0.1, 0.2, 0.3]),
        np.array([]),
        np.array([-1e300, -1e-300, 0.0, 1e-310, 1e300]),
        np.array([100000.5, 123456.5]),
    ]
    payload = Payload()
    decimals = payload.add_sorted("cuts", columns)
    assert decimals == [2, -1, 1, 0, -1, 1]
    _, found = unpack(payload.pack({}))
    wholes = iter(found["cuts"].tolist())
    for column, d in zip(columns, decimals, strict=True):
        assert [restore(next(wholes), d) for _ in column] == column.tolist()


def restore_contrasts(mixed):
    """Cumulative sums along the axes of the features, cell by cell."""
    out = np.zeros(mixed.shape)
    for place in np.ndindex(mixed.shape):
        before = tuple(slice(0, k + 1) for k in place[1:])
        out[place] = mixed[(place[0], *before)].sum() * CONTRAST_STEP
    return out


@pytest.mark.parametrize("n_classes", [2, 3])
def test_contrasts_of_smooth_classes(n_classes):
    random = np.random.default_rng(0)
    shared = random.normal(size=(9, 12, 1))
    one, two = (
        random.normal(size=(9, 1, n_classes)),
        random.normal(size=(12, n_classes)),
    )
    blocks = np.kron(random.normal(size=(3, 3, n_classes)), np.ones((3, 4, 1)))
    table = shared + one + two + blocks
    mixed = class_contrasts(table)
    # One number for every row, column and corner of a block, in every class.
    assert (mixed != 0).sum() <= (n_classes - 1) * (9 + 12 - 1 + 4)
    expected = np.moveaxis(table[..., 1:] - table[..., :1], -1, 0)
    np.testing.assert_allclose(restore_contrasts(mixed), expected, rtol=0, atol=STEP)


def test_tables_without_smooth_contrasts():
    random = np.random.default_rng(0)
    table = np.log(random.dirichlet(np.ones(6), size=(5, 2))).swapaxes(1, 2)
    assert class_contrasts(np.where(table < -4, -np.inf, table)) is None
    table = random.normal(size=(5, 6, 2))
    table[..., 1] = 0.25
    assert class_contrasts(table) is None
