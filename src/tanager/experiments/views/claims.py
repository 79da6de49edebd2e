"""Claims about pairs of methods, told by one-sided paired t-tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tanager.compare import PairTests, Results, paired_t_tests
from tanager.compare.pairs import p_text


def t_tests(
    scores: Mapping[tuple[str, str], float],
    methods: Sequence[str],
    *,
    higher_is_better: bool = True,
) -> PairTests | None:
    """Tests of all pairs, over the sets of which all of the methods are known.

    Parameters
    ----------
    scores : mapping
        From set and method to a number.
    methods : sequence of str
        The methods, in their order.
    higher_is_better : bool, default=True
        False for errors.

    Returns
    -------
    PairTests or None
        None if there are not two methods and two sets.

    Examples
    --------
    >>> scores = {("a", "NB"): 80.0, ("a", "TAN"): 83.0, ("b", "NB"): 70.0}
    >>> t_tests(scores, ["NB", "TAN"]) is None
    True
    >>> tests = t_tests(scores | {("b", "TAN"): 74.0}, ["NB", "TAN"])
    >>> tests.better("TAN", "NB")
    True
    """
    sets = whole_sets(scores, methods)
    if len(sets) < 2 or len(methods) < 2:
        return None
    kept = {(name, method): scores[name, method] for name in sets for method in methods}
    return paired_t_tests(Results.from_mapping(kept, higher_is_better=higher_is_better))


def whole_sets(
    scores: Mapping[tuple[str, str], float], methods: Sequence[str]
) -> list[str]:
    """The sets of which all of the methods are known."""
    sets = dict.fromkeys(name for name, _ in scores)
    return [name for name in sets if all((name, m) in scores for m in methods)]


def told(
    tests: PairTests | None, claims: Sequence[Sequence[str]]
) -> tuple[str, bool | None]:
    """Claims in words, and whether all of them hold.

    Parameters
    ----------
    tests : PairTests or None
        What is known.
    claims : sequence of (method, relation, method)
        ``">"`` means significantly better, ``">="`` not significantly worse, ``"~"``
        neither significantly better nor worse.

    Examples
    --------
    >>> scores = {("a", "NB"): 80.0, ("a", "TAN"): 83.0}
    >>> scores |= {("b", "NB"): 70.0, ("b", "TAN"): 74.0}
    >>> tests = t_tests(scores, ["NB", "TAN"])
    >>> told(tests, [["TAN", ">", "NB"]])
    ('TAN > NB: yes, better (p = 0.045).', True)
    >>> told(tests, [["NB", ">=", "TAN"]])
    ('NB >= TAN: no, TAN is better (p = 0.045).', False)
    """
    if tests is None:
        return "", None
    said, holding = [], []
    for left, relation, right in claims:
        if left not in tests.methods or right not in tests.methods:
            continue
        better, worse = tests.better(left, right), tests.better(right, left)
        holds = better if relation == ">" else not worse
        if relation == "~":
            holds = not (better or worse)
        statistic, p = _test(tests, left, right)
        if statistic == 0.0:
            seen = "they are equal"
        else:
            seen = "better" if statistic > 0 else f"{right} is better"
            seen += f" (p = {p_text(p)})".replace("= <", "<")
        holding.append(holds)
        said.append(f"{left} {relation} {right}: {'yes' if holds else 'no'}, {seen}.")
    return " ".join(said), all(holding) if holding else None


def winner(tests: PairTests, left: str, right: str) -> tuple[str | None, float]:
    """The better of two methods, None if they are equal, and the p-value."""
    statistic, p = _test(tests, left, right)
    if statistic == 0.0:
        return None, p
    return left if statistic > 0 else right, p


def _test(tests: PairTests, left: str, right: str) -> tuple[float, float]:
    i, j = tests.methods.index(left), tests.methods.index(right)
    return float(tests.statistics[i, j]), float(tests.p_values[i, j])
