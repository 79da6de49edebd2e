"""Explanations of fitted models as data: contributions, counterfactuals, importance."""

from typing import TYPE_CHECKING

from tanager.utils.lazy_names import lazy_names

__all__ = [
    "Change",
    "Counterfactual",
    "CredibleInterval",
    "EdgeStrengths",
    "Effect",
    "Explanation",
    "Importance",
    "Questions",
    "Sensitivity",
    "Typicality",
    "explain_samples",
    "find_counterfactual",
    "measure_edges",
    "measure_effect",
    "measure_importance",
    "measure_intervals",
    "measure_sensitivity",
    "measure_typicality",
    "rank_questions",
    "stored_importance",
]

if TYPE_CHECKING:
    from tanager.explain.counterfactual import (
        Change,
        Counterfactual,
        find_counterfactual,
    )
    from tanager.explain.credible_interval import CredibleInterval, measure_intervals
    from tanager.explain.edge_strength import EdgeStrengths, measure_edges
    from tanager.explain.explanation import Explanation, explain_samples
    from tanager.explain.importance import (
        Importance,
        measure_importance,
        stored_importance,
    )
    from tanager.explain.next_question import Questions, rank_questions
    from tanager.explain.partial_effects import measure_effect
    from tanager.explain.sensitivity import Sensitivity, measure_sensitivity
    from tanager.explain.typicality import Typicality, measure_typicality
    from tanager.network import Effect
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            ".counterfactual": ("Change", "Counterfactual", "find_counterfactual"),
            ".credible_interval": ("CredibleInterval", "measure_intervals"),
            ".edge_strength": ("EdgeStrengths", "measure_edges"),
            ".partial_effects": ("measure_effect",),
            ".explanation": ("Explanation", "explain_samples"),
            ".importance": ("Importance", "measure_importance", "stored_importance"),
            ".next_question": ("Questions", "rank_questions"),
            ".sensitivity": ("Sensitivity", "measure_sensitivity"),
            ".typicality": ("Typicality", "measure_typicality"),
            "tanager.network": ("Effect",),
        },
    )  # fmt: skip
