"""Which of our numbers is compared with a number of the literature: the one place that chooses.

On a puzzle whose states are listed, trainings are repeated under the document's own names. Those of the thesis have two
counterparts: its exact recipe, as a longer study has kept it, and this study's compact network of the same name. Those
of another document have this study's, or else what was kept of them. On a puzzle whose states are sampled, one model
represents the study, its headline: it is compared with every network of the literature that was trained as ours was.
"""

from typing import NamedTuple

import pandas as pd

from costtogo.literature.finding import NAN, Finding, Row, look_up, trainings_of
from costtogo.literature.words import FACT
from costtogo.puzzles import make
from costtogo.puzzles.base import is_listed
from costtogo.tables.results import StudyResults

THESIS = "thesis"
LEARNED = ("DeepCubeA", "DeepCube", "Report_DNN", "C3_DNN_0")  # the literature's networks that ours is compared with
OPTIMAL = ("Rokicki", "Korf", "PDB_solver", "optimal_solver")  # its solvers whose solutions are the shortest
NETWORK = "Report_DNN"  # whose searches documents other than the thesis report, on a listed puzzle
OTHER_SETS = {  # of the literature that none of ours can be compared with, and why
    "training_test": "scrambles of that training",
    "farthest_17": "a set that the study does not search; data/boards has what the packaged network finds",
    "figure_2": "a board of that document",
}
NOTHING = "none"  # which nobody kept
EXACT, COMPACT, OURS = "exact", "compact", "ours"  # recipes


class Counterpart(NamedTuple):
    """Our numbers for one of the literature.

    basis: the one that is judged, None where there is none.  recipe: of the training behind it, "exact" for the
    source's own, "compact" for this study's smaller training of the same name, "ours" for another one, empty for a
    fact and where none has run.  compact: the number of the compact network, also where the exact recipe is judged.
    """

    basis: Finding | None
    recipe: str
    compact: Finding | None = None


def terms_of(reported: pd.DataFrame, own: StudyResults) -> list[Row]:
    """The rows of data/reported with what is needed to find our numbers for them.

    Added are listed, whether all states of the puzzle are, as the study asks; repeated, whether an exact recipe and a
    compact network are their counterparts; states, how many the puzzle has; actions, how many the document says that
    it has, None where it does not; total, the iterations at which the row's training was stopped; and models, where
    the row makes a claim on all that are repeated.
    """
    stopped = reported["value"].where(reported["quantity"] == "total_iterations", reported["iteration"])
    totals = stopped.groupby(reported["model"]).max().to_dict()
    thesis = reported[(reported["source"] == THESIS) & reported["model"].notna()]
    models = thesis.groupby("puzzle")["model"].unique().map(list).to_dict()
    turns = reported[reported["quantity"] == "actions"].set_index(["source", "puzzle"])["value"].to_dict()
    rows = []
    for row in reported.to_dict("records"):
        puzzle, asked = make(row["puzzle"]), own.puzzles.get(row["puzzle"])
        listed = asked.is_exhaustive if asked else is_listed(puzzle)
        repeated = listed and row["source"] == THESIS
        told = {"listed": listed, "repeated": repeated, "states": puzzle.state_count}
        told |= {"actions": turns.get((row["source"], row["puzzle"]))}
        told |= {"total": totals.get(row["model"], NAN), "models": models.get(row["puzzle"], []) if repeated else []}
        rows.append(row | told)
    return rows


def counterpart_of(own: StudyResults, row: Row) -> Counterpart:
    """Our numbers for a row, as terms_of returns it."""
    recipe, compact = results_of_recipe(own, row), look_up(own, row | {"ours": our_model(own, row)})
    if recipe is own or (compact and compact.fact):  # a fact is the same in all results
        found = compact
    else:
        architecture = own.params.architectures.get(row["model"])
        found = look_up(recipe, row | {"ours": our_model(recipe, row), "architecture": architecture})
    if row["kind"] == FACT or (found and found.fact):  # no training has a part in it, so that no recipe has
        return Counterpart(found, "")
    if not row["repeated"]:  # one number of ours, whose recipe is the source's only if the model has its name
        name = our_model(recipe, row) if isinstance(row["model"], str) else None
        return Counterpart(found, "" if name is None else EXACT if name == row["model"] else OURS)
    # The exact recipe is judged wherever it has run, also where it did not get as far as the compact network
    if has_trained(recipe, row["model"]) or (found and not isinstance(row["model"], str)):
        return Counterpart(found, EXACT, compact)
    return Counterpart(compact, COMPACT if compact or has_trained(own, row["model"]) else "", compact)


def has_trained(results: StudyResults, model: str | None) -> bool:
    """Whether a model of the literature has been trained under its name, with one seed or several."""
    return isinstance(model, str) and bool(trainings_of(results, model))


def results_of_recipe(own: StudyResults, row: Row) -> StudyResults:
    """The results of the row's own recipe: this study's, or what another has kept."""
    has_it = not row["listed"] or (not row["repeated"] and own.has(f"models/{NETWORK}"))
    return own if has_it else kept_by(own, row["source"])


def kept_by(own: StudyResults, study: str) -> StudyResults:
    """What another study has kept, if ours shows it; else nothing."""
    return own.kept(study if study in own.params.beside else NOTHING)


def our_model(results: StudyResults, row: Row) -> str | None:
    """The model of some results that a row's is compared with; None without one."""
    if not row["listed"]:
        return results.headline_model if row["model"] in LEARNED or not isinstance(row["model"], str) else None
    name = row["model"]
    if not row["repeated"] and (name in OPTIMAL or not isinstance(name, str)):
        name = NETWORK  # whose searches these numbers are of, too
    return name if has_trained(results, name) else None
