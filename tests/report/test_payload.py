"""Arrays survive packing, to the precision that the page needs."""

import gzip
import json
import struct

import numpy as np
import pytest

from tanager.errors import InputError
from tanager.report.cpt_packing import (
    EFFECT_STEP,
    CodedTable,
    code_table,
    merge_levels,
    mixed_effects,
)
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
    widths = {"log": 7, "sparse": 7, "float": 4, "error": 1, "code": 2, "whole": 8}
    for entry in header["arrays"]:
        width, size = widths[entry["kind"]], entry["size"]
        if entry["kind"] == "sparse":
            mask = content[place : place + -(-size // 8)]
            place += len(mask)
            bits = [mask[k // 8] >> k % 8 & 1 for k in range(size)]
            size = entry["filled"]
            assert sum(bits) == size
        planes = content[place : place + width * size]
        place += width * size
        rows = [bytes(planes[b * size + i] for b in range(width)) for i in range(size)]
        if entry["kind"] == "log":
            current, found = 0, []
            for row in rows:
                z = int.from_bytes(row, "little")
                current += z // 2 if z % 2 == 0 else -(z + 1) // 2
                found.append(-np.inf if current == ZERO_PROBABILITY else current * STEP)
        elif entry["kind"] == "sparse":
            zigzag = iter([int.from_bytes(row, "little") for row in rows])
            found = [next(zigzag) if bit else 0 for bit in bits]
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
    sparse = np.zeros(37, dtype=np.int64)
    sparse[[0, 9, 36]] = 1, -(2**51), 2**51
    payload.add_logs("logs", logs)
    payload.add_codes("codes", codes)
    payload.add_floats("floats", floats)
    payload.add_errors("errors", errors)
    payload.add_sparse("sparse", sparse)
    payload.add_sparse("none", np.zeros(0, dtype=np.int64))
    header, found = unpack(payload.pack({"title": "é\ud800<"}))
    assert header["title"].startswith("é")
    np.testing.assert_allclose(found["logs"], logs, rtol=0, atol=STEP / 2)
    np.testing.assert_array_equal(found["codes"], codes)
    np.testing.assert_allclose(found["floats"], floats, rtol=1e-6)
    np.testing.assert_allclose(found["errors"], errors, rtol=0.04)
    np.testing.assert_array_equal(found["sparse"], sparse)
    assert len(found["none"]) == 0


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


def decode(coded, owner_axis):
    """A table from its stored form, cell by cell."""
    if coded.coding == "effects":
        mixed = coded.effects
        out = np.zeros(mixed.shape)
        for place in np.ndindex(mixed.shape):
            before = tuple(slice(0, k + 1) for k in place[1:])
            out[place] = mixed[(place[0], *before)].sum() * EFFECT_STEP
        out[1:] += out[:1]
    else:
        out = coded.logs.copy()
    if coded.normalised:
        out -= np.log(np.exp(out).sum(axis=owner_axis, keepdims=True))
    return out


def normalise(table, axis):
    return table - np.log(np.exp(table).sum(axis=axis, keepdims=True))


@pytest.mark.parametrize("owner_axis", [None, 1, 2])
@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_effects(n_classes, owner_axis):
    random = np.random.default_rng(0)
    table = random.normal(size=(n_classes, 9, 1)) + random.normal(
        size=(n_classes, 1, 12)
    )
    blocks = random.normal(size=(n_classes, 3, 3))
    table += np.kron(blocks, np.ones((1, 3, 4)))
    if owner_axis is not None:
        table = normalise(table, owner_axis)
    coded = code_table(table, owner_axis)
    assert coded.coding == "effects"
    assert coded.normalised is (owner_axis is not None)
    # One number for every row, column and corner of a block, in every class.
    n_left_out = {None: 0, 1: 12, 2: 9}[owner_axis]
    assert (coded.effects != 0).sum() <= n_classes * (9 + 12 - 1 + 4 - n_left_out)
    decoded = decode(coded, owner_axis)
    np.testing.assert_allclose(decoded, table, rtol=0, atol=2 * STEP)


def test_effects_of_three_features():
    random = np.random.default_rng(1)
    shapes = [(2, 1, 6, 6), (2, 6, 1, 6), (2, 6, 6, 1)]
    pairs = [random.normal(size=shape) for shape in shapes]
    coded = code_table(sum(pairs), None)
    assert coded.coding == "effects"
    assert (coded.effects != 0).sum() <= 2 * (6**3 - 5**3)
    np.testing.assert_allclose(decode(coded, None), sum(pairs), rtol=0, atol=2 * STEP)


@pytest.mark.parametrize("alpha", [1.0, 0.3, 0.0])
def test_levels_of_cpts_from_counts(alpha):
    random = np.random.default_rng(2)
    counts = random.poisson(0.4, size=(3, 20, 15)) + alpha
    counts[..., 0] += 1.0  # no row without a sample
    counts[1, 2] *= 3.0
    with np.errstate(divide="ignore"):
        table = np.log(counts / counts.sum(axis=2, keepdims=True))
    coded = code_table(table, 2)
    assert (coded.coding, coded.normalised) == ("levels", True)
    levels, places = merge_levels([coded, coded])
    assert len(levels) < 40
    expected = np.concatenate([coded.logs.ravel()] * 2)
    np.testing.assert_allclose(levels[places], expected, rtol=0, atol=2 * STEP)
    own = levels[places[: table.size]].reshape(table.shape)
    decoded = decode(CodedTable("levels", own, coded.effects, normalised=True), 2)
    np.testing.assert_allclose(decoded, table, rtol=0, atol=4 * STEP)


def test_levels_of_no_table():
    levels, places = merge_levels([])
    assert len(levels) == len(places) == 0


def test_tables_without_effects_or_levels():
    random = np.random.default_rng(0)
    table = np.log(random.dirichlet(np.ones(6), size=(2, 5)))
    assert code_table(table, None).coding == "values"
    table = np.where(table < -4, -np.inf, table)
    assert mixed_effects(table) is None
    assert code_table(table, None).coding == "values"
    assert mixed_effects(np.array([[4000.0, -4000.0]])) is None


def test_rows_that_may_not_be_normalised_are_kept():
    counts = np.random.default_rng(3).poisson(1.0, size=(2, 12, 10)) + 1.0
    table = np.log(counts / counts.sum(axis=2, keepdims=True)) + 1e-9
    coded = code_table(table, None)
    assert not coded.normalised
    np.testing.assert_allclose(decode(coded, 2), table, rtol=0, atol=2 * STEP)
