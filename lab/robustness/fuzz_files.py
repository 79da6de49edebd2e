"""Inputs for fuzzing: files of every format, changed at random."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from sklearn.base import clone

from lab.robustness.mutations import mutate_bytes, mutate_json
from tanager import (
    BayesNetClassifier,
    BoostedClassifier,
    load,
)
from tanager.io import read_table, write_bif, write_table, write_xmlbif
from tanager.optim import Checkpoint

BIF_WORDS = (
    b"network", b"variable", b"probability", b"type discrete [ 2 ]", b"table",
    b"default", b"property", b"{", b"}", b"(", b")", b"|", b";", b",", b'"', b"/*",
    b"//", b"property tanager", b"[ 99999999 ]",
)  # fmt: skip
XML_WORDS = (
    b"<BIF>", b"</BIF>", b"<VARIABLE>", b"<OUTCOME>a</OUTCOME>", b"<FOR>", b"<GIVEN>",
    b"<TABLE>", b"<!DOCTYPE BIF [<!ENTITY a 'b'>]>", b"&a;", b"<![CDATA[", b"]]>",
    b"<!ATTLIST OUTCOME a CDATA 'x'>", b'encoding="utf-16"', b"<!--", b"<?xml",
    b"&#0;", b"&lt;", b"<PROPERTY>tanager",
)  # fmt: skip
CSV_WORDS = (
    b",", b'"', b"\n", b"\r", b"\r\n", b"\t", b";", b"\x00", b"\xef\xbb\xbf", b"?",
    b"NA", b'""', b",,,,", b"\xff", b"a,a",
)  # fmt: skip
NPY_WORDS = (
    b"{'descr': '<f8'", b"'|O'", b"(((", b"'shape': (3,)", b"\x93NUMPY\x01\x00",
    b"\x93NUMPY\x03\x00", b"PK\x05\x06", b"PK\x01\x02", b"__import__", b"1L",
)  # fmt: skip
IDENTITY = {"rate": 0.1, "rows": "a1b2"}
ARRAYS = {"log_theta": np.zeros((2, 3)), "steps": np.array(7)}
COMPRESSIONS = (
    zipfile.ZIP_STORED, zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA,
)  # fmt: skip


@dataclass(frozen=True)
class FileKind:
    """One format: how an input is made and how it is used.

    `write` puts the changed files into a folder and returns the one to open; `use`
    opens it and does what a user does next.
    """

    write: Callable[[Random, Path, Seeds], Path]
    use: Callable[[Path], object]


@dataclass(frozen=True)
class Seeds:
    """Valid files: documents of models, texts of networks, tables, checkpoints."""

    documents: tuple[str, ...]
    packed: tuple[tuple[Any, bytes], ...]
    files: Mapping[str, tuple[bytes, ...]]


def make_seeds(folder: Path) -> Seeds:
    """Write one file of every kind to a folder, and read their content."""
    random = np.random.default_rng(0)
    labels = random.integers(0, 3, 60)
    X = {
        "size": np.round(labels + random.normal(size=60), 1),
        "kind": np.array(["a", "b", "c"])[(labels + random.integers(0, 2, 60)) % 3],
        "sign": np.where(random.random(60) < 0.5, "+", "-"),
    }
    X["size"][:5] = np.nan
    y = np.array(["no", "some", "yes"])[labels]
    tan = BayesNetClassifier("mdl", "tan", "fe").fit(X, y)
    models = [
        tan,
        BayesNetClassifier(random_state=0).fit(X, y),
        BayesNetClassifier("mdl", "tan-res", "rcl", random_state=0).fit(X, y),
        BoostedClassifier(BayesNetClassifier("mdl", "nb", "fe"), n_estimators=2).fit(
            X, y
        ),
    ]
    path = folder / "seed.json"
    documents = []
    for model in models:
        model.save(path)
        documents.append(path.read_text("utf-8"))
    wide = _wide_network(random)
    wide.save(path)
    packed = json.loads(path.read_text("utf-8"))
    arrays = (folder / packed["tables_file"]["name"]).read_bytes()
    network = tan.network_
    write_bif(folder / "seed.bif", network)
    write_xmlbif(folder / "seed.xmlbif", network)
    table = {**X, "class": y}
    for ending in ("csv", "parquet", "arrow"):
        write_table(folder / f"seed.{ending}", table)
    files: dict[str, tuple[bytes, ...]] = {
        ending: ((folder / f"seed.{ending}").read_bytes(),)
        for ending in ("bif", "xmlbif", "csv", "parquet", "arrow")
    }
    files["csv"] += (b"a;b\n1;2\n3;x\n", b'"a ""b""","c\nd"\r\n1,\r\n', b"a\tb\n1\t2\n")
    Checkpoint(folder / "seed.npz", IDENTITY).save(ARRAYS, {"epoch": 3, "trace": [{}]})
    files["npz"] = ((folder / "seed.npz").read_bytes(),)
    return Seeds(tuple(documents), ((packed, arrays),), files)


def _wide_network(random: np.random.Generator) -> Any:
    """A network whose CPTs are too large for the JSON file itself."""
    values = random.integers(0, 34, size=(300, 3)).astype(str)
    model = BayesNetClassifier("categorical", "kdb2", "fe")
    return model.fit(values, random.integers(0, 6, 300))


def write_json(random: Random, folder: Path, seeds: Seeds) -> Path:
    """A model file, changed as a document or as text."""
    document = random.choice(seeds.documents)
    if random.random() < 0.7:
        content = mutate_json(random, document)
    else:
        content = mutate_bytes(random, document.encode())
    return _put(folder / "input.json", content)


def write_npz(random: Random, folder: Path, seeds: Seeds) -> Path:
    """A model file with a changed npz file that has the right checksum."""
    document, arrays = random.choice(seeds.packed)
    how = random.randrange(3)
    if how == 0:
        arrays = mutate_bytes(random, arrays, NPY_WORDS)
    else:
        with zipfile.ZipFile(io.BytesIO(arrays)) as archive:
            (name,) = archive.namelist()
            member = archive.read(name)
        head = mutate_bytes(random, member[:128], NPY_WORDS)
        arrays = _zip(random, name, head + member[128:])
        if how == 2:
            arrays = mutate_bytes(random, arrays)
    sha256 = hashlib.sha256(arrays).hexdigest()
    _put(folder / "input.npz", arrays)
    changed = {**document, "tables_file": {"name": "input.npz", "sha256": sha256}}
    return _put(folder / "input.json", json.dumps(changed).encode())


def _zip(random: Random, name: str, content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", random.choice(COMPRESSIONS)) as archive:
        archive.writestr(name, content)
    return buffer.getvalue()


def _put(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def changed_file(
    ending: str, words: tuple[bytes, ...] = ()
) -> Callable[[Random, Path, Seeds], Path]:
    """Make a function that writes a changed file of one ending."""

    def write(random: Random, folder: Path, seeds: Seeds) -> Path:
        content = mutate_bytes(random, random.choice(seeds.files[ending]), words)
        name = f"input.{ending}"
        if ending == "csv" and random.random() < 0.1:
            name += ".gz"
            content = gzip.compress(content, 1)
            if random.random() < 0.5:
                content = mutate_bytes(random, content)
        return _put(folder / name, content)

    return write


def use_model(path: Path) -> None:
    """Load a model, print it and predict, as its user does."""
    model = load(path)
    repr(model)
    networks = getattr(model, "networks_", (model,))
    for network in networks:
        str(network)
    if hasattr(model, "predict_proba"):
        repr(clone(model))
        names = networks[0].schema.names[:-1]
        model.predict_proba({name: [None] for name in names})
    elif model.schema.target is not None and len(model.schema) < 30:
        model.posterior({})


def use_table(path: Path) -> None:
    """Read a table and fit naive Bayes to it."""
    frame = read_table(path)
    if 2 <= frame.n_rows <= 200 and len(frame.names) <= 20:
        BayesNetClassifier("width", "nb", "fe").fit(frame, np.arange(frame.n_rows) % 2)


def use_checkpoint(path: Path) -> None:
    """Load a checkpoint, whatever run it belongs to."""
    Checkpoint(path, IDENTITY).load()


FILE_KINDS: Mapping[str, FileKind] = {
    "json": FileKind(write_json, use_model),
    "npz": FileKind(write_npz, use_model),
    "bif": FileKind(changed_file("bif", BIF_WORDS), use_model),
    "xmlbif": FileKind(changed_file("xmlbif", XML_WORDS), use_model),
    "csv": FileKind(changed_file("csv", CSV_WORDS), use_table),
    "parquet": FileKind(changed_file("parquet"), use_table),
    "arrow": FileKind(changed_file("arrow"), use_table),
    "checkpoint": FileKind(changed_file("npz", NPY_WORDS), use_checkpoint),
}
