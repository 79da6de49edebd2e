"""Queries run in databases, and give the probabilities of the model.

PostgreSQL is that of the connection string in the environment variable
TANAGER_POSTGRES, such as ``host=127.0.0.1 user=postgres``; without it these tests are
skipped. They create temporary tables only.
"""

import os
import sqlite3

import numpy as np
import pandas as pd
import pytest

from tanager import BayesNetClassifier, CapabilityError, InputError
from tanager.export.sql_dialect import DIALECTS
from tests.export.conftest import NEEDS_COMPLETE, every_model, expected_rows


def run_duckdb(query, table, name="data"):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.register("given", table)
        connection.execute(
            f"CREATE TABLE {DIALECTS['duckdb'].identifier(name)} AS SELECT * FROM given"
        )
        return connection.execute(query).df()


def run_sqlite(query, table, name="data"):
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("SELECT EXP(1), SQRT(2), LN(3)")
    except sqlite3.OperationalError:
        pytest.skip("this SQLite has no mathematical functions")
    table.to_sql(name, connection, index=False)
    result = pd.read_sql(query, connection)
    connection.close()
    return result


def run_postgres(query, table, name="data"):
    if not (place := os.environ.get("TANAGER_POSTGRES")):
        pytest.skip("TANAGER_POSTGRES names no database")
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    quoted = DIALECTS["postgres"].identifier
    types = {"f": "DOUBLE PRECISION", "i": "BIGINT", "b": "BOOLEAN"}
    columns = [
        f"{quoted(column)} {types.get(dtype.kind, 'TEXT')}"
        for column, dtype in table.dtypes.items()
    ]
    # Every other missing number is NULL, the rest are NaN.
    keeps_nan = np.array([dtype.kind == "f" for dtype in table.dtypes])
    absent = table.isna().to_numpy(copy=True)
    absent[::2] &= ~keeps_nan
    rows = np.where(absent, None, table.astype(object).to_numpy()).tolist()
    with psycopg.connect(place) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE TEMPORARY TABLE {quoted(name)} ({', '.join(columns)})")
        with cursor.copy(f"COPY {quoted(name)} FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
        cursor.execute(query)
        names = [column.name for column in cursor.description]
        return pd.DataFrame(cursor.fetchall(), columns=names)


RUNNERS = {"duckdb": run_duckdb, "sqlite": run_sqlite, "postgres": run_postgres}


def with_keys(samples):
    return samples.assign(id=np.arange(len(samples)))


@every_model
@pytest.mark.parametrize("dialect", list(RUNNERS))
def test_probabilities(models, samples, kind, n_classes, dialect):
    model = models[kind, n_classes]
    complete = kind in (*NEEDS_COMPLETE, "smooth-tree")
    query = model.to_sql(dialect=dialect, keep=["id"], complete=complete)
    found = RUNNERS[dialect](query, with_keys(samples)).sort_values("id")
    expected, known = expected_rows(model, samples, complete=complete)
    columns = [f"P({label})" for label in model.classes_]
    assert list(found.columns) == ["id", "prediction", *columns]
    probabilities = found[columns].to_numpy(dtype=float)
    np.testing.assert_allclose(probabilities[known], expected[known], atol=1e-9)
    assert np.isnan(probabilities[~known]).all()
    predicted = found["prediction"].to_numpy()[known]
    assert (predicted == model.predict(samples)[known]).all()


@pytest.mark.parametrize("dialect", list(RUNNERS))
def test_a_hundred_thousand_rows(models, samples, dialect):
    model = models["factors", 3]
    many = samples.sample(100_000, replace=True, random_state=0)
    query = model.to_sql(keep=["id"], dialect=dialect)
    rows = many.assign(id=np.arange(len(many)))
    found = RUNNERS[dialect](query, rows).sort_values("id")
    expected = model.predict_proba(many)
    columns = [f"P({label})" for label in model.classes_]
    np.testing.assert_allclose(found[columns].to_numpy(), expected, atol=1e-9)


@pytest.mark.parametrize("dialect", list(RUNNERS))
@pytest.mark.parametrize("kind", ["factors", "nb", "tree"])
def test_columns_that_are_left_out(messy, messy_models, dialect, kind):
    """Text in a column that the model leaves out is not read as a number."""
    model, X = messy_models[kind], messy[0]
    query = model.to_sql(dialect=dialect, keep=["customer_id"])
    found = RUNNERS[dialect](query, X).sort_values("customer_id")
    # Most databases do not tell these classes apart by the case of their names.
    other = "P(yes)" if dialect == "postgres" else "P(yes)_"
    assert list(found)[2:] == ["P(Yes)", other]
    expected = model.predict_proba(X)
    np.testing.assert_allclose(found.to_numpy()[:, 2:].astype(float), expected)


def test_more_classes_than_arguments_of_a_function():
    labels = np.arange(1200) % 150
    X = pd.DataFrame({"a": labels % 15, "b": labels // 15}).astype(str)
    model = BayesNetClassifier(structure="nb", parameters="fe").fit(X, labels)
    found = run_sqlite(model.to_sql(dialect="sqlite"), X)
    expected = model.predict_proba(X)
    np.testing.assert_allclose(found.iloc[:, 1:].to_numpy(), expected, atol=1e-9)


@pytest.mark.parametrize("dialect", list(RUNNERS))
def test_hostile_names_of_tables(models, samples, dialect):
    name = 'x"; DROP TABLE data; --'
    query = models["nb", 2].to_sql(table=name, dialect=dialect)
    assert len(RUNNERS[dialect](query, samples, name)) == len(samples)


@pytest.mark.parametrize("dialect", ["postgres", "bigquery"])
@pytest.mark.parametrize("kind", ["factors", "tree"])
def test_other_dialects_quote_and_nest_rightly(models, dialect, kind):
    """Where no such database is at hand: balance of the text, and its quotes."""
    query = models[kind, 3].to_sql(dialect=dialect, keep=["id"])
    depth, inside, i = 0, "", 0
    while i < len(query):
        letter = query[i]
        if inside:
            if letter == "\\" and dialect == "bigquery":
                i += 1
            elif letter == inside:
                inside = ""
        elif letter in "'\"`":
            inside = letter
        else:
            depth += (letter == "(") - (letter == ")")
            assert depth >= 0
        i += 1
    assert depth == 0
    assert not inside
    assert ("UNNEST" in query) == (dialect == "bigquery")
    assert ("::float8" in query) == (dialect == "postgres")


@pytest.mark.parametrize("kind", ["tree", "two-parents"])
def test_what_is_no_small_tree_is_refused_or_complete(models, kind, monkeypatch):
    monkeypatch.setattr("tanager.export.sql.MAX_NUMBERS", 10)
    model = models[kind, 3]
    with pytest.raises(CapabilityError, match=r"marginalises.*complete=True"):
        model.to_sql()
    assert model.to_sql(complete=True).startswith("WITH ")


def test_bad_arguments(models):
    model = models["nb", 2]
    with pytest.raises(InputError, match="Did you mean 'duckdb'"):
        model.to_sql(dialect="duckbd")
    with pytest.raises(InputError, match="twice"):
        model.to_sql(keep=["id", "id"])
    with pytest.raises(InputError, match=r"P\(low\)"):
        model.to_sql(keep=["P(low)"])
    assert '"prediction_"' in model.to_sql(keep=["prediction"])


def test_a_nul_character_is_refused(samples):
    with pytest.raises(InputError, match="NUL"):
        DIALECTS["sqlite"].literal("a\0b")


@pytest.mark.parametrize("dialect", list(DIALECTS))
def test_names_that_a_database_does_not_tell_apart(dialect):
    X = {"A": ["u", "v"] * 20, "a": ["u", "u", "v", "v"] * 10}
    y = [0, 1, 1, 1] * 10
    model = BayesNetClassifier(structure="nb", parameters="fe").fit(X, y)
    if dialect == "postgres":
        assert '"A"' in model.to_sql(dialect=dialect)
        return
    with pytest.raises(CapabilityError, match=r"'A' and 'a'.*ignores case"):
        model.to_sql(dialect=dialect)


def test_features_that_differ_after_63_bytes():
    """PostgreSQL cuts names there, so that both would be one column."""
    names = ["\u00fc" * 31 + "x" + end for end in "ab"]
    X = dict(zip(names, [["u", "v"] * 20, ["u", "u", "v", "v"] * 10], strict=True))
    model = BayesNetClassifier(structure="nb", parameters="fe").fit(
        X, [0, 1, 1, 1] * 10
    )
    with pytest.raises(CapabilityError, match="reads 63 bytes of a name"):
        model.to_sql(dialect="postgres")
    assert names[1] in model.to_sql(dialect="duckdb")


def long_classes():
    """A model whose classes differ after more bytes than PostgreSQL reads."""
    X = pd.DataFrame({"x": ["u", "v", "w"] * 20})
    y = [f"{'long ' * 20}{end}" for end in ("", "a", "b")] * 20
    return BayesNetClassifier(structure="nb", parameters="fe").fit(X, y), X


def test_long_names_of_results():
    model, _ = long_classes()
    lines = model.to_sql(dialect="postgres").splitlines()
    ends = [line.rsplit(" AS ", 1)[-1].strip('",') for line in lines[-4:-1]]
    assert len(set(ends)) == 3
    assert [len(end) for end in ends] == [63, 63, 63]
    assert ends[1].endswith("_")
    assert ends[2].endswith("__")


@pytest.mark.parametrize("dialect", list(RUNNERS))
def test_long_names_run(dialect):
    model, X = long_classes()
    found = RUNNERS[dialect](model.to_sql(dialect=dialect), X)
    expected = model.predict_proba(X).sum(axis=0)
    np.testing.assert_allclose(found.iloc[:, 1:].astype(float).sum(), expected)


def test_names_of_results_in_bigquery():
    X = {"x": ["u", "v"] * 20}
    y = ["no; --", "no!!--"] * 20
    model = BayesNetClassifier(structure="nb", parameters="fe").fit(X, y)
    lines = model.to_sql(dialect="bigquery").splitlines()
    ends = [line.rsplit(" AS ", 1)[-1].rstrip(",") for line in lines[-4:-1]]
    assert ends == ["`prediction`", "`P_no____`", "`P_no_____`"]


def test_limits_of_databases():
    rng = np.random.default_rng(0)
    labels = np.arange(40) % 2
    values = np.where(rng.random((40, 2100)) < 0.2, "u", labels[:, None].astype(str))
    X = pd.DataFrame(values, columns=[f"f{j}" for j in range(2100)])
    model = BayesNetClassifier(structure="nb", parameters="fe").fit(X, labels)
    for dialect in ("sqlite", "postgres"):
        with pytest.raises(CapabilityError, match=r"2,1\d\d columns.*takes.*duckdb"):
            model.to_sql(dialect=dialect)
    assert model.to_sql(dialect="duckdb")


def test_many_states_fit_into_duckdb_but_not_into_bigquery(many_states):
    model, X = many_states
    found = run_duckdb(model.to_sql(keep=["id"]), with_keys(X)).sort_values("id")
    expected = model.predict_proba(X)
    np.testing.assert_allclose(found.iloc[:, 2:].to_numpy(), expected, atol=1e-9)
    with pytest.raises(CapabilityError, match=r"has \d,\d+,\d+ characters.*1,000,000"):
        model.to_sql(dialect="bigquery")
