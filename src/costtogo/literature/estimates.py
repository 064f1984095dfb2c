"""The thesis's own trainings: how long those would take that have not been run, and how the others were chosen."""

import pandas as pd

from costtogo.literature.counterparts import THESIS, has_trained, kept_by
from costtogo.tables.kept import ESTIMATES
from costtogo.tables.results import StudyResults


def not_run(results: StudyResults) -> pd.DataFrame:
    """How long the thesis's exact recipes would take that have not been run; columns as estimates have them.

    Source: data/measured/thesis/estimates.csv (costtogo.commands.estimate).
    """
    kept = kept_by(results, THESIS)
    found = kept.find_frame(ESTIMATES)
    if found is None:
        return pd.DataFrame(columns=["model"])
    return found[[not has_trained(kept, model) for model in found["model"]]]


def thresholds_of_exact(results: StudyResults) -> dict[str, float]:
    """By model, the share of optimal solutions, %, by which the checkpoint of a kept exact recipe was chosen.

    Only of searches that were run before the paired test was the rule.
    """
    kept = kept_by(results, THESIS).cards
    searches = {place: card["parameters"]["search"] for place, card in kept.items() if place.startswith("searches/")}
    name = "selection_optimal_percent"
    return {place.split("/")[1]: asked[name] for place, asked in searches.items() if name in asked}
