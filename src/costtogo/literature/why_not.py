"""Why a number of the literature has no number of ours."""

from collections.abc import Iterator

from costtogo.literature.answers import sampled_searches as searches
from costtogo.literature.answers.trees import two_phase
from costtogo.literature.counterparts import (
    EXACT,
    LEARNED,
    NETWORK,
    OPTIMAL,
    OTHER_SETS,
    Counterpart,
    has_trained,
    results_of_recipe,
)
from costtogo.literature.estimates import not_run
from costtogo.literature.finding import Row
from costtogo.literature.quantities import quantity_of
from costtogo.literature.verdicts import Verdict
from costtogo.literature.words import NOT_COMPARABLE, NOT_JUDGED, NOT_REACHED, NOT_RUN
from costtogo.tables.results import StudyResults

APART = "wall-clock times of this study differ from run to run and stand in timings.md"
NEEDS_OPTIMA = (
    *("optimal_percent", "extra_moves", "extra_moves_2_percent", "extra_moves_4_percent", "length_ratio"),
    *("overestimation_mean", "admissible_within_one_percent", "length"),
)
BY_HAND = ("layer_by_layer", "CFOP")
ITS_NODES = {"Rokicki": "nodes of that program follow from its tables, of 182 GB"}  # of solvers that we cannot run
OTHER_SOLVERS = {"at_most_kociemba_percent": "Kociemba"}  # of quantities that compare two: that of another document


def why_not(own: StudyResults, row: Row, counterpart: Counterpart) -> Iterator[Verdict]:
    """Why we have no number for one of the literature: verdict after verdict, of which the first counts."""
    quantity, model = quantity_of(row["quantity"], row["repeated"]), row["model"]
    if row["repeated"] and quantity.clock and counterpart.recipe != EXACT:
        yield NOT_JUDGED, APART
    if row["repeated"] and counterpart.recipe:
        yield NOT_COMPARABLE, "not measured on these terms"
    if row["repeated"] and row["source"] in own.params.beside:
        told = "; timings.md has the hours that it would take" if model in set(not_run(own)["model"]) else ""
        yield NOT_RUN, f"the exact recipe has not been run, and the study has no counterpart{told}"
    yield from _listed(own, row) if row["listed"] else _unsolved_or_timed(own, row)
    if quantity.reason and (not row["quantity"].endswith("_tried") or model in LEARNED):
        yield NOT_COMPARABLE if quantity.no_run else NOT_RUN, quantity.reason
    if not row["listed"]:
        yield from _large(own, row)
    yield NOT_RUN, "the study has no counterpart, or has not run it"


def _listed(own: StudyResults, row: Row) -> Iterator[Verdict]:
    """Why not, of a training that is repeated by its name."""
    model = row["model"]
    if isinstance(model, str) and model not in OPTIMAL and not has_trained(results_of_recipe(own, row), model):
        yield NOT_RUN, f"the training has not been run: config/{row['source']}.yaml"
    if quantity_of(row["quantity"]).clock and model == NETWORK:
        yield NOT_JUDGED, APART
    if model in OPTIMAL:
        yield NOT_RUN, "another solver, which the study does not run"


def _unsolved_or_timed(own: StudyResults, row: Row) -> Iterator[Verdict]:
    """Why not, of searches on a puzzle too large to list: too few were solved, or seconds may not be seen."""
    model, found = row["model"], searches.exact(own)
    if (model in OPTIMAL or row["quantity"] == "seconds_ratio_pdb") and found and not found.rows["solved"].all():
        solved, limit = found.rows["solved"], own.asked.optima.max_generated
        why = f"{found.what}, solves {solved.sum()} of {len(solved)} within {limit:,} nodes each: no mean of all"
        yield NOT_REACHED, why
    timed_here = model in LEARNED or (model in OPTIMAL and own.asked.optima is not None)
    timed_here |= model == "Kociemba" and two_phase(own) is not None
    if quantity_of(row["quantity"]).clock and timed_here and not own.timed:
        yield NOT_JUDGED, APART


def _large(own: StudyResults, row: Row) -> Iterator[Verdict]:
    """Why not, of a puzzle too large to list, where the quantity alone does not say it."""
    quantity, model = row["quantity"], row["model"]
    if row["set"] in OTHER_SETS:
        yield NOT_COMPARABLE, OTHER_SETS[row["set"]]
    asked_of = model in (*LEARNED[:1], *OPTIMAL, "Report_DNN")
    if quantity in NEEDS_OPTIMA and asked_of and searches.external(own) is None and own.asked.external is not None:
        yield NOT_RUN, f"not measured yet: snakemake {own.study}-external measures it"
    if quantity in NEEDS_OPTIMA and searches.external(own) is not None and searches.with_optima(own) is None:
        yield NOT_COMPARABLE, "needs optima, which are not known"
    if "Kociemba" in (model, OTHER_SOLVERS.get(quantity)) and own.asked.two_phase is not None:
        yield NOT_RUN, f"not measured yet: snakemake {own.study}-two_phase measures it"
    if model in BY_HAND:
        yield NOT_COMPARABLE, "of people who solve by hand"
    if model in ITS_NODES and quantity.startswith("nodes_"):
        yield NOT_COMPARABLE, ITS_NODES[model]
    if isinstance(model, str) and model not in LEARNED:
        yield NOT_RUN, "another solver or training, which the study does not run"
    if quantity == "optimal_percent" and model == "DeepCube":
        yield NOT_RUN, "of cubes of 15 random turns, which the study does not have or not by trees"
