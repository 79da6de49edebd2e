"""Statistical comparison of methods over datasets, from scores of any origin."""

from tanager.compare.bayesian import (
    BayesianTests,
    Verdict,
    bayesian_signed_rank,
    bayesian_tests,
)
from tanager.compare.diagram import (
    critical_difference_diagram,
    draw_ranks,
    rank_diagram_svg,
)
from tanager.compare.pairwise_result import PairTests
from tanager.compare.ranks import (
    FriedmanTest,
    RankGroups,
    critical_difference,
    friedman_test,
    rank_groups,
)
from tanager.compare.score_table import Results
from tanager.compare.summary import means_table, summary
from tanager.compare.t_tests import (
    WinTieLoss,
    corrected_t_test,
    paired_t_tests,
    win_tie_loss,
)
from tanager.compare.wilcoxon import holm, wilcoxon_signed_rank, wilcoxon_tests

__all__ = [
    "BayesianTests",
    "FriedmanTest",
    "PairTests",
    "RankGroups",
    "Results",
    "Verdict",
    "WinTieLoss",
    "bayesian_signed_rank",
    "bayesian_tests",
    "corrected_t_test",
    "critical_difference",
    "critical_difference_diagram",
    "draw_ranks",
    "friedman_test",
    "holm",
    "means_table",
    "paired_t_tests",
    "rank_diagram_svg",
    "rank_groups",
    "summary",
    "wilcoxon_signed_rank",
    "wilcoxon_tests",
    "win_tie_loss",
]
