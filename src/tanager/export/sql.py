"""`to_sql`: a query that scores the rows of a table in a database."""

from __future__ import annotations

from collections.abc import Sequence

from tanager.errors import CapabilityError
from tanager.export.feature_tree import read_tree
from tanager.export.score_terms import ScoreTerms
from tanager.export.sql_dialect import find_dialect
from tanager.export.sql_query import SumQuery
from tanager.export.sql_tree import MAX_NUMBERS, TreeQuery
from tanager.network import AnyNetwork


def to_sql(
    network: AnyNetwork,
    *,
    table: str = "data",
    dialect: str = "duckdb",
    keep: Sequence[str] = (),
    complete: bool = False,
) -> str:
    """Write a query that gives class probabilities for the rows of a table.

    Parameters
    ----------
    network : Network or LogLinearNetwork
        The model. Its class must be the last variable and have no parents.
    table : str, default="data"
        Name of the table, with columns named as the features.
    dialect : {"duckdb", "postgres", "sqlite", "bigquery"}, default="duckdb"
        The database.
    keep : sequence of str, default=()
        Columns of the table that the result repeats. Keep a key: databases may return
        the rows in another order.
    complete : bool, default=False
        Accept that rows without a feature that is a parent of others get NULL instead
        of probabilities. Otherwise the query marginalises such features, for trees that
        are small enough.

    Returns
    -------
    str
        One SELECT statement. Its columns are those of `keep`, ``prediction``, and one
        ``P(class)`` for every class, in BigQuery ``P_class`` with underscores for all
        but letters and digits. A name that the database does not tell from one before
        it gets an underscore.

    Raises
    ------
    CapabilityError
        If the scores of the model are no sum of tables, if it would have to
        marginalise features and `complete` is False, or if the query would exceed the
        limits of the database.

    Notes
    -----
    A missing value is NULL or NaN. A category that the model does not know is treated
    as in `predict`. Names and categories are quoted, so that they cannot end a string
    or a name of the query.

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> X = {"sky": ["blue", "grey", "grey", None], "wind": [3.0, 9.0, 8.5, 2.0]}
    >>> model = BayesNetClassifier(structure="nb", parameters="fe").fit(X, [0, 1, 1, 0])
    >>> print(to_sql(model.network_, keep=["id"]).splitlines()[-5])
    SELECT tanager_k0 AS "id",
    """
    written = find_dialect(dialect)
    terms = ScoreTerms.of_network(network)
    if not terms.needed or complete:
        return SumQuery(terms, written, table, tuple(keep)).text()
    tree = read_tree(network)
    if tree is None or tree.n_numbers > MAX_NUMBERS:
        names = [terms.features[j].name for j in terms.needed]
        shown = ", ".join(repr(name) for name in names[:3])
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        raise CapabilityError(
            f"Where {shown}{more} are missing, this network marginalises them, which "
            f"a query can do for trees with at most {MAX_NUMBERS:,} entries. If they "
            "are never missing, use complete=True (on the command line --complete); "
            "otherwise export the default model or naive Bayes, whose scores are sums "
            "for incomplete rows, too, or a tree with fewer bins."
        )
    return TreeQuery(tree, written, table, tuple(keep)).text()
