"""Claims about pairs of methods, judged by one-sided paired t-tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tanager.compare import PairTests, Results, paired_t_tests


def t_tests(
    scores: Mapping[tuple[str, str], float],
    methods: Sequence[str],
    *,
    higher_is_better: bool = True,
) -> PairTests | None:
    """Tests of all pairs, over the datasets of which all of the methods are known.

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

    Returns
    -------
    str
        A sentence for every claim about methods that are known.
    bool or None
        False if one of them is contradicted; None if that is not so, but a difference
        that is claimed is not significant.

    Examples
    --------
    >>> scores = {("a", "NB"): 80.0, ("a", "TAN"): 83.0}
    >>> scores |= {("b", "NB"): 70.0, ("b", "TAN"): 74.0}
    >>> tests = t_tests(scores, ["NB", "TAN"])
    >>> told(tests, [["TAN", ">", "NB"]])
    ('TAN > NB: yes (p = 0.045).', True)
    >>> told(tests, [["NB", ">=", "TAN"]])
    ('NB >= TAN: no, TAN is better (p = 0.045).', False)
    """
    if tests is None:
        return "", None
    said, holding = [], []
    for left, relation, right in claims:
        if left in tests.methods and right in tests.methods:
            answer, holds = _answer(tests, left, relation, right)
            said.append(f"{left} {relation} {right}: {answer}.")
            holding.append(holds)
    return " ".join(said), together(holding)


def together(holding: Sequence[bool | None]) -> bool | None:
    """Whether several claims hold: False if one does not, None if one is open.

    Examples
    --------
    >>> together([True, None]), together([True, False, None]), together([])
    (None, False, None)
    """
    if False in holding:
        return False
    return None if None in holding or not holding else True


def _answer(
    tests: PairTests, left: str, relation: str, right: str
) -> tuple[str, bool | None]:
    better, worse = tests.better(left, right), tests.better(right, left)
    first, p = winner(tests, left, right)
    level = f"p = {p_text(p)}".replace("= <", "<")
    if first is None:
        return (
            "no" if relation == ">" else "yes"
        ) + ", they are equal", relation != ">"
    if relation == ">" and first == left and not better:
        return f"not significantly ({level})", None
    holds = better
    if relation != ">":
        holds = not worse and not (relation == "~" and better)
    if holds and (better or relation == "~"):
        return f"yes ({level})", True
    return f"{'yes' if holds else 'no'}, {first} is better ({level})", holds


def winner(tests: PairTests, left: str, right: str) -> tuple[str | None, float]:
    """The better of two methods, None if they are equal, and the p-value."""
    statistic, p = _test(tests, left, right)
    if statistic == 0.0:
        return None, p
    return left if statistic > 0 else right, p


def _test(tests: PairTests, left: str, right: str) -> tuple[float, float]:
    i, j = tests.methods.index(left), tests.methods.index(right)
    return float(tests.statistics[i, j]), float(tests.p_values[i, j])


def p_text(p: float) -> str:
    """A p-value with two digits, very small ones as a bound.

    Examples
    --------
    >>> p_text(0.01234), p_text(0.00001)
    ('0.012', '< 0.0001')
    """
    return "< 0.0001" if p < 0.0001 else f"{p:.2g}"
