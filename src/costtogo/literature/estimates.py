"""The thesis's own trainings: how long those would take that have not been run, and how the others were chosen.

Also which runs would decide the numbers of the thesis on which there is no verdict yet, and their hours.
"""

import math

import pandas as pd

from costtogo.literature.counterparts import THESIS, has_trained, kept_by
from costtogo.literature.verdicts import ENOUGH
from costtogo.literature.words import CANNOT_TELL, FACT
from costtogo.tables.kept import ESTIMATES
from costtogo.tables.results import TIMES, StudyResults


def not_run(results: StudyResults) -> pd.DataFrame:
    """How long the thesis's exact recipes would take that have not been run; columns as estimates have them.

    Source: data/measured/thesis/estimates.csv (costtogo.commands.estimate).
    """
    kept = kept_by(results, THESIS)
    found = kept.find_frame(ESTIMATES)
    if found is None:
        return pd.DataFrame(columns=["model"])
    return found[[not has_trained(kept, model) for model in found["model"]]]


def price_of_undecided(results: StudyResults, comparison: pd.DataFrame) -> pd.DataFrame:
    """Runs that would decide the undecided numbers of the thesis: a row for each model and recipe.

    undecided: numbers.  seeds: the most that one of them is the mean of.  decides: what would, or would help.
    hours: of one training with its audit and its searches, as kept ones took; NaN where none was kept.
    comparison: as costtogo.literature.comparison.compare returns it.
    """
    undecided = comparison["verdict"].eq(CANNOT_TELL) & comparison["source"].eq(THESIS) & ~comparison["kind"].eq(FACT)
    kept, rows, missing = kept_by(results, THESIS), [], not_run(results).set_index("model")
    for (model, recipe), group in comparison[undecided & comparison["model"].notna()].groupby(
        ["model", "recipe"], sort=False
    ):
        seeds, hours = int(group["seeds"].fillna(1).max()), _hours(kept, model)
        decides = f"{ENOUGH - seeds} seeds more" if seeds < ENOUGH else "more seeds"
        if model in missing.index:
            decides, hours = "the exact recipe", missing.loc[model, "hours"]
        rows.append({"model": model, "recipe": recipe, "undecided": len(group), "seeds": seeds})
        rows[-1] |= {"decides": decides, "hours": hours}
    return pd.DataFrame(rows, columns=["model", "recipe", "undecided", "seeds", "decides", "hours"])


def _hours(kept: StudyResults, model: str) -> float:
    """Hours that the first training of a model took with its audit and its searches; NaN where one was not kept."""
    name = next(iter(kept.seeds_of(model).values()), model)
    clocks = [kept.find_card(f"{TIMES}/{group}/{name}") for group in ("models", "audits", "searches")]
    return sum(clock.get("seconds", math.nan) + clock.get("earlier_seconds", 0.0) for clock in clocks) / 3600


def thresholds_of_exact(results: StudyResults) -> dict[str, float]:
    """By model, the share of optimal solutions, %, by which the checkpoint of a kept exact recipe was chosen.

    Only of searches that were run before the paired test was the rule.
    """
    kept = kept_by(results, THESIS).cards
    searches = {place: card["parameters"]["search"] for place, card in kept.items() if place.startswith("searches/")}
    name = "selection_optimal_percent"
    return {place.split("/")[1]: asked[name] for place, asked in searches.items() if name in asked}
