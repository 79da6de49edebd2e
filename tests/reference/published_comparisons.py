"""Comparisons of methods as they were printed.

Demšar (2006), Statistical comparisons of classifiers over multiple data sets, JMLR 7;
Greiner et al. (2005), Structural extension to logistic regression, Machine Learning
59; Pernkopf and Bilmes (2010), Efficient heuristics for discriminative structure
learning of Bayesian network classifiers, JMLR 11.
"""

from tanager.compare import Results

METHODS = ("C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf")

# Demšar, Table 6, the ranks in brackets: areas under the curve are rounded there.
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

# Demšar, Table 2: C4.5 and C4.5+m.
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

# Demšar, Table 5 (a): critical values of the Nemenyi test for 2 to 10 methods.
CRITICAL_VALUES = {
    0.05: (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164),
    0.10: (1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920),
}


GREINER_METHODS = ("NB+OFE", "NB+ELR", "TAN+OFE", "TAN+ELR", "GBN+OFE", "GBN+ELR")

# Greiner et al., Table II: accuracy in per cent.
GREINER = """
australian 86.81 84.93 84.93 84.93 86.38 86.81
breast 97.21 96.32 96.32 96.32 96.03 95.74
chess 87.34 95.40 92.40 97.19 90.06 90.06
cleve 82.03 81.36 80.68 81.36 84.07 82.03
corral 86.40 86.40 93.60 100.00 100.00 100.00
crx 86.15 86.46 86.15 86.15 86.00 85.69
diabetes 74.77 75.16 74.38 73.33 75.42 76.34
flare 80.47 82.82 83.00 83.10 82.63 82.63
german 74.70 74.60 73.50 73.50 73.70 73.70
glass 47.62 44.76 47.62 44.76 47.62 44.76
glass2 81.25 81.88 80.63 80.00 80.63 78.75
heart 78.89 78.52 78.52 78.15 79.63 78.89
hepatitis 83.75 86.25 88.75 85.00 90.00 90.00
iris 92.67 94.00 92.67 92.00 92.00 92.00
letter 72.40 83.02 83.22 88.90 79.78 81.21
lymphography 82.76 86.21 86.90 84.83 79.31 78.62
mofn-3-7-10 86.72 100.00 91.60 100.00 86.72 100.00
pima 75.03 75.16 74.38 74.38 75.03 74.25
satimage 81.55 85.40 88.30 88.30 79.25 79.25
segment 85.32 89.48 89.35 89.22 77.53 77.40
shuttle-small 98.24 99.12 99.12 99.22 97.31 97.88
soybean-large 90.89 90.54 93.39 92.86 82.50 85.54
vehicle 55.98 64.14 65.21 66.39 48.52 51.95
vote 90.34 95.86 93.79 95.40 96.32 95.86
waveform-21 75.91 78.55 76.30 76.30 65.79 65.79
"""

# Greiner et al., Table IV: one-sided p of the better method against the other.
GREINER_P = {
    ("GBN+ELR", "GBN+OFE"): 0.2,
    ("TAN+ELR", "GBN+ELR"): 0.008,
    ("TAN+ELR", "GBN+OFE"): 0.008,
    ("TAN+OFE", "GBN+ELR"): 0.04,
    ("TAN+OFE", "GBN+OFE"): 0.02,
    ("TAN+ELR", "TAN+OFE"): 0.12,
    ("NB+ELR", "GBN+ELR"): 0.01,
    ("NB+ELR", "GBN+OFE"): 0.03,
    ("TAN+ELR", "NB+ELR"): 0.2,
    ("TAN+OFE", "NB+ELR"): 0.45,
    ("GBN+ELR", "NB+OFE"): 0.36,
    ("GBN+OFE", "NB+OFE"): 0.46,
    ("TAN+ELR", "NB+OFE"): 0.006,
    ("TAN+OFE", "NB+OFE"): 0.002,
    ("NB+ELR", "NB+OFE"): 0.005,
}

# Pernkopf and Bilmes, Table 8: TAN-OMI-CR-ML, and the best of 1000 random orders.
PERNKOPF = """
australian 82.04 83.60
breast 97.40 96.95
chess 94.93 93.90
cleve 81.76 82.76
corral 99.20 95.20
crx 84.07 84.22
diabetes 74.36 75.01
flare 82.74 81.98
german 73.20 71.50
glass 70.70 73.44
glass2 82.20 82.20
heart 81.85 83.33
hepatitis 90.67 90.33
iris 93.33 93.33
letter 87.00 86.50
lymphography 88.30 81.27
mofn-3-7-10 91.41 89.75
pima 75.26 76.56
shuttle-small 99.17 99.17
vote 94.29 94.06
satimage 88.25 87.20
segment 94.42 95.45
soybean-large 91.11 91.74
vehicle 67.38 68.20
waveform-21 78.02 77.79
"""
PERNKOPF_SIGNIFICANCE = 0.144
"""Of this pair, in their Table 2."""


def text_results(text, methods):
    """Results from lines of a dataset and its scores."""
    lines = [line.split() for line in text.strip().splitlines()]
    return Results.from_mapping(
        {
            (name, method): float(score)
            for name, *scores in lines
            for method, score in zip(methods, scores, strict=True)
        }
    )


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
