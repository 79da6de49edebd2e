"""Numbers printed in Demšar (2006), Statistical comparisons of classifiers, JMLR 7."""

from tanager.compare import Results

METHODS = ("C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf")

# Table 6, the ranks in brackets: areas under the curve are rounded there.
RANKS = {
    "adult (sample)": (4, 3, 2, 1),
    "breast cancer": (1, 2, 3, 4),
    "breast cancer wisconsin": (4, 1, 2, 3),
    "cmc": (4, 1, 3, 2),
    "ionosphere": (4, 2, 3, 1),
    "iris": (1, 2.5, 4, 2.5),
    "liver disorders": (3, 2, 4, 1),
    "lung cancer": (2.5, 2.5, 4, 1),
    "lymphography": (4, 3, 2, 1),
    "mushroom": (2.5, 2.5, 2.5, 2.5),
    "primary tumor": (4, 2.5, 1, 2.5),
    "rheum": (3, 2, 4, 1),
    "voting": (4, 1, 2, 3),
    "wine": (3, 1, 4, 2),
}
AVERAGE_RANKS = (3.143, 2.000, 2.893, 1.964)
CHI2, F = 9.28, 3.69

# Table 2: C4.5 and C4.5+m.
AREAS = {
    "adult (sample)": (0.763, 0.768),
    "breast cancer": (0.599, 0.591),
    "breast cancer wisconsin": (0.954, 0.971),
    "cmc": (0.628, 0.661),
    "ionosphere": (0.882, 0.888),
    "iris": (0.936, 0.931),
    "liver disorders": (0.661, 0.668),
    "lung cancer": (0.583, 0.583),
    "lymphography": (0.775, 0.838),
    "mushroom": (1.000, 1.000),
    "primary tumor": (0.940, 0.962),
    "rheum": (0.619, 0.666),
    "voting": (0.972, 0.981),
    "wine": (0.957, 0.978),
}
ABOVE, BELOW = 93, 12

# Table 5 (a): critical values of the Nemenyi test for 2 to 10 methods.
CRITICAL_VALUES = {
    0.05: (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164),
    0.10: (1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920),
}


def ranked_results():
    """Results that have these ranks."""
    return Results.from_mapping(
        {
            (name, method): rank
            for name, ranks in RANKS.items()
            for method, rank in zip(METHODS, ranks, strict=True)
        },
        higher_is_better=False,
    )


def area_results():
    """Results of the two methods."""
    return Results.from_mapping(
        {
            (name, method): area
            for name, areas in AREAS.items()
            for method, area in zip(METHODS, areas, strict=False)
        }
    )
