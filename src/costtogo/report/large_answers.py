"""Our number for a number of the literature on a puzzle too large to list, found in the results of its study.

One model stands for the study, its headline; searches of scrambled states stand for each other: those of
external instances where they have been run, else the widest beams. The literature's optimal solvers stand beside the
exact solutions of the study's own scrambled states. What differs from the row's own terms is noted.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from costtogo.analysis.intervals import mean_interval
from costtogo.analysis.literature import SECONDS
from costtogo.exact.partition import parse_partition
from costtogo.heuristics.convolutional import PADDING
from costtogo.params.instances import WalkInstances
from costtogo.puzzles import make, noun
from costtogo.puzzles.cube import FACES, sticker_places
from costtogo.report.answers import NAN, Answer, Row, share_interval
from costtogo.report.answers import answer as answer_default
from costtogo.report.results import StudyResults
from costtogo.report.search_tables import (
    beams_text,
    best_cell,
    exact_solutions,
    mirrored,
    shortest_path_sets,
    triplets,
)

LEARNED = ("DeepCubeA", "DeepCube", "Report_DNN", "C3_DNN_0")  # the literature's networks that ours stands beside
OPTIMAL = ("Rokicki", "Korf", "PDB_solver", "optimal_solver")  # its solvers whose solutions are the shortest
SCRAMBLED = 100  # moves; after so many, a walk may have ended at any state
OTHER_SETS = {  # of the literature that ours do not stand for, and why
    "training_test": "scrambles of that training",
    "farthest_17": "the study has no states so far away",
    "figure_2": "a board of that document",
}
SAMPLES = {  # an instance set or an audit of ours for each of the literature's sets
    "scrambled_1000_10000": "walks",
    "scrambled_1000": "walks",
    "grid_100": "grid",
    "distance_26": "farthest",
    "sample": "consistency",
    "scrambled_1_30": "scrambled",
    "scrambled_each_depth": "depth",
}


class Searches(NamedTuple):
    """Searches of one kind: a row each, the file they are in, what they are."""

    rows: pd.DataFrame
    file: str
    what: str


@dataclass(frozen=True)
class Findings:
    """What the study found, as the literature's numbers ask for it."""

    results: StudyResults
    model: str

    @property
    def noun(self) -> str:
        """What is solved, "cube" or "board"."""
        return noun(self.results.puzzle)

    def path(self, file: str, suffix: str = "") -> str:
        """A file of the results as seen from the project's root."""
        return self.results.place(file.format(self.model), suffix)

    def table(self, file: str) -> pd.DataFrame | None:
        """A table of the model."""
        return self.results.find(file.format(self.model))

    def of_training(self, name: str) -> float:
        """A measure of the training, summed over those that it starts from; NaN before they are finished."""
        models = self.results.lineage(self.model)
        if not set(models) <= set(self.results.trained):
            return NAN
        return sum(self.results.card(f"models/{model}")["metrics"][name] for model in models)

    @cached_property
    def seconds(self) -> float:
        """Seconds of the training likewise, NaN where they may not be seen."""
        models = self.results.lineage(self.model)
        if not self.results.timed or not set(models) <= set(self.results.trained):
            return NAN
        timings = [self.results.card(f"models/{model}")["timing"] for model in models]
        return sum(timing["seconds"] + timing.get("earlier_seconds", 0.0) for timing in timings)

    def davi(self, row: Row) -> str | None:
        """The study's model by value iteration that stands beside a row's: with adaptive K for the thesis's."""
        models = {
            name: each.sampler.kind for name, each in self.results.params.models.items() if each.trainer == "davi"
        }
        alike = [name for name, kind in models.items() if (kind == "adaptive_k") == (row["model"] == "C3_DNN_0")]
        return next(iter(alike), None)

    @cached_property
    def external(self) -> Searches | None:
        """The searches of external instances under the longest budget, with seconds where they may be seen."""
        found = self.table("external/{}/searches")
        if found is None:
            return None
        allowed = found["seconds_allowed"].max()
        rows = self._with_seconds(
            found[found["seconds_allowed"] == allowed], "external", ["seconds_allowed", "instance"]
        )
        searched = self.results.asked.external.budget(allowed).searched
        what = f"the first {len(rows)} {self.noun}s of {self.results.asked.external.file}, {searched}"
        return Searches(rows, self.path("external/{}/searches"), what)

    @cached_property
    def beams(self) -> Searches | None:
        """The widest beams of the first set of scrambled states that was searched."""
        found = self.table("beams/{}/searches")
        if found is None:
            return None
        sets = [beams.set for beams in self.results.asked.beams if self.is_scrambled(beams.set)]
        rows = found[found["set"].isin(sets[:1])]
        if rows.empty:
            return None
        rows = rows[rows["width"] == rows["width"].max()]
        what = (
            f"{len(rows)} {self.noun}s of the set {sets[0]}, {beams_text(self.results, sets[0], rows['width'].iloc[0])}"
        )
        rows = self._with_seconds(rows, "beams", ["set", "width", "instance"])
        return Searches(rows.assign(optimal=rows["distance"]), self.path("beams/{}/searches"), what)

    @cached_property
    def exact(self) -> Searches | None:
        """What the exact solver found of the sets of scrambled states."""
        rows = exact_solutions(self.results)
        if rows is None:
            return None
        sets = [name for name in dict.fromkeys(rows["set"]) if self.is_scrambled(name)]
        rows = rows[rows["set"].isin(sets)]
        if rows.empty:
            return None
        clock = self.results.find(f"timings/optima/{self.results.puzzle}")
        rows = rows.assign(seconds=np.nan) if clock is None else rows.merge(clock, on=["set", "instance"])
        database = self.results.asked.optima.pattern_database
        how = f"IDA* over {database}" if database else "linear algebra"
        what = f"{len(rows)} {self.noun}s of the set{'s' if len(sets) > 1 else ''} {' and '.join(sets)}, {how}"
        return Searches(rows, self.results.place(f"optima/{self.results.puzzle}"), what)

    @property
    def all_exact(self) -> Searches | None:
        """The same where every one of them was solved."""
        return self.exact if self.exact is not None and self.exact.rows["solved"].all() else None

    @property
    def known(self) -> Searches | None:
        """The searches that stand for the study, where their optima are known; else the beams, where theirs are."""
        alternatives = (self.external, self.beams)
        return next((found for found in alternatives if found and found.rows["optimal"].notna().all()), None)

    @property
    def judged(self) -> Searches | None:
        """External instances whose optima are known: they tell what the network says of each, too."""
        searches = self.external
        return None if searches is None or searches.rows["optimal"].isna().any() else searches

    @property
    def scrambled(self) -> Searches | None:
        """The searches that stand for the study."""
        return self.external or self.beams

    def _with_seconds(self, rows: pd.DataFrame, group: str, keys: list[str]) -> pd.DataFrame:
        clock = self.table(f"timings/{group}/{{}}")
        return rows.assign(seconds=np.nan) if clock is None else rows.merge(clock, on=keys)

    def is_scrambled(self, name: str) -> bool:
        """Whether a set is drawn by walks so long that they end anywhere."""
        kind = self.results.asked.instances[name]
        return isinstance(kind, WalkInstances) and kind.length[0] >= SCRAMBLED

    def prefix(self, row: Row) -> Searches | None:
        """The widest beam from a beginning of a shortest path, as long as the row's distance."""
        found = self.table("beams/{}/searches")
        if found is None:
            return None
        found = found[found["set"].isin(shortest_path_sets(self.results)) & (found["distance"] == row["distance"])]
        if found.empty:
            return None
        one = found.sort_values("width").tail(1)
        what = beams_text(self.results, *one[["set", "width"]].iloc[0])
        one = self._with_seconds(one, "beams", ["set", "width", "instance"])
        return Searches(one, self.path("beams/{}/searches"), what)

    def cell(self, row: Row) -> str:
        """What BWAS at a row's λ and N found, in words; empty where our grid lacks them."""
        grid = self.table("searches/{}/grid")
        if grid is None or math.isnan(row["path_weight"]) or math.isnan(row["batch_size"]):
            return ""
        alike = grid[np.isclose(grid["path_weight"], row["path_weight"]) & (grid["batch_size"] == row["batch_size"])]
        if alike.empty:
            return ""
        cell = alike.iloc[0]
        length = f" in {cell['length']:.2f} moves" if cell["solved_percent"] else ""
        most = next(
            search.max_nodes
            for search in self.results.asked.grids
            if search.set == cell["set"] and cell["batch_size"] in search.batch_size
        )
        return (
            f"BWAS at this λ and N, at most {most:,} nodes, solves {cell['solved_percent']:.0f} % of"
            f" {cell['instances']:.0f} {self.noun}s of the set {cell['set']}{length}"
        )


def answer(found: Findings, row: Row) -> Answer | None:
    """Our number for a row, None where the study has none."""
    find = FINDERS.get(row["quantity"])
    answered = find(found, row) if find else None
    return None if answered is None or math.isnan(answered.value) else answered


def _fact(value: float, note: str) -> Answer:
    return Answer(value, "src/costtogo/puzzles", note=note)


def _states(found: Findings, row: Row) -> Answer:
    return _fact(float(make(row["puzzle"]).state_count), "the puzzle's rules")


def _of_puzzle(found: Findings, row: Row) -> Answer | None:
    """Numbers of the puzzle itself, counted from its rules."""
    puzzle = make(row["puzzle"])
    if row["quantity"] == "input_size":
        size = puzzle.cells * puzzle.letters
        return _fact(size, "one-hot cells") if size == row["value"] else None  # else of another representation
    if row["quantity"] == "cubelets":
        places, _ = sticker_places(math.isqrt(puzzle.cells // len(FACES)))
        return _fact(len(np.unique(places, axis=0)), "places that have stickers")
    if row["quantity"] in ("actions_corner", "actions_edge"):
        corner = puzzle.goal[None]
        states = corner if row["quantity"] == "actions_corner" else puzzle.expand(corner)[0][puzzle.legal(corner)]
        return _fact(float(puzzle.legal(states).sum(axis=1).max()), "the puzzle's rules")
    count = len(puzzle.actions) if row["quantity"] == "actions" else puzzle.cells
    return _fact(float(count), "the puzzle's rules")


def _move_sequences(found: Findings, row: Row) -> Answer:
    return _fact(float(len(make(row["puzzle"]).actions) ** int(row["distance"])), "the puzzle's rules")


def _sequence_length(found: Findings, row: Row) -> Answer | None:
    """Moves of the longest beginning of the sequence whose states are searched."""
    sets = shortest_path_sets(found.results)
    if not sets:
        return None
    moves = len(make(row["puzzle"]).parse_moves(found.results.asked.instances[sets[0]].moves))
    return Answer(
        moves, f"config/{found.results.study}.yaml", note="the moves listed, replayed; that none are fewer is proved"
    )


def _length(found: Findings, row: Row) -> Answer | None:
    """Mean length: of shortest solutions where the row's solver finds those, else of ours."""
    if row["set"] == "superflip_four_spot":
        return _sequence_length(found, row)
    if row["model"] in OPTIMAL:
        if found.all_exact is not None:
            value, low, high = mean_interval(found.all_exact.rows["distance"])
            return Answer(value, found.all_exact.file, low, high, note=found.all_exact.what)
        if found.judged is None:
            return None
        value, low, high = mean_interval(found.judged.rows["optimal"])
        return Answer(value, found.judged.file, low, high, note=f"the optima told of {found.judged.what}")
    if row["model"] not in LEARNED or found.scrambled is None:
        return None
    solved = found.scrambled.rows[found.scrambled.rows["solved"]]
    value, low, high = mean_interval(solved["cost"])
    return Answer(value, found.scrambled.file, low, high, note=_notes(found, row))


def _notes(found: Findings, row: Row) -> str:
    return "; ".join(filter(None, [found.scrambled.what, found.cell(row)]))


def _length_most(found: Findings, row: Row) -> Answer | None:
    """The longest solution of BWAS at the row's λ."""
    searches = found.table("searches/{}/searches")
    if searches is None:
        return None
    alike = searches[np.isclose(searches["path_weight"], row["path_weight"]) & searches["solved"]]
    note = f"{len(alike)} solutions of BWAS at this λ with every N"
    return Answer(alike["cost"].max(), found.path("searches/{}/searches"), note=note)


def _length_ratio(found: Findings, row: Row) -> Answer | None:
    if found.known is None:
        return None
    solved = found.known.rows[found.known.rows["solved"]]
    ratio = solved["cost"].mean() / solved["optimal"].mean()
    return Answer(ratio, found.known.file, note=found.known.what)


def _moves_too_many(found: Findings, row: Row) -> Answer | None:
    """Mean of the moves that solutions of external instances have too many."""
    if found.known is None or row["model"] not in LEARNED or not math.isnan(row["distance"]):
        return None
    solved = found.known.rows[found.known.rows["solved"]]
    value, low, high = mean_interval(solved["cost"] - solved["optimal"])
    return Answer(value, found.known.file, low, high, note=found.known.what)


def _share(searches: Searches, holds: pd.Series, note: str) -> Answer:
    """A share of searches with its interval; a single one has none."""
    percent = 100 * float(holds.mean())
    low, high = share_interval(percent, len(holds)) if len(holds) > 1 else (NAN, NAN)
    return Answer(percent, searches.file, low, high, note=note)


def _solved(found: Findings, row: Row) -> Answer | None:
    """Share of scrambled states solved; a policy that takes the best move is held against greedy search."""
    if row["model"] == "policy_network":
        return _greedy(found, row)
    if row["model"] not in LEARNED or found.scrambled is None or row["set"] in OTHER_SETS:
        return None
    return _share(found.scrambled, found.scrambled.rows["solved"], _notes(found, row))


def _greedy(found: Findings, row: Row) -> Answer | None:
    shares, depth = found.table("audits/{}/greedy"), row["set"].rpartition("_")[2]
    if shares is None or not depth.isdigit():
        return None
    last = shares[(shares["iteration"] == shares["iteration"].max()) & (shares["depth"] == int(depth))]
    if last.empty:
        return None
    percent, states = last[["solved_percent", "states"]].iloc[0]
    note = "greedy search by the cost-to-go, which like that network searches nothing"
    return Answer(percent, found.path("audits/{}/greedy"), *share_interval(percent, states), note=note)


def _states_solved(found: Findings, row: Row) -> Answer | None:
    """Solved states of a hundred, as the report has them."""
    solved = _solved(found, row)
    return None if solved is None else replace(solved, note=f"of each hundred; {solved.note}")


def _optimal(found: Findings, row: Row) -> Answer | None:
    if not math.isnan(row["distance"]):
        one = found.prefix(row)
        if one is None:
            return None
        known = "one such state; " if row["set"] == "distance_26" else ""
        return _share(one, one.rows["cost"] == one.rows["distance"], known + one.what)
    if found.known is None or row["model"] != "DeepCubeA":
        return None
    rows = found.known.rows
    return _share(found.known, rows["cost"] == rows["optimal"], found.known.what)


def _extra_moves(found: Findings, row: Row) -> Answer | None:
    """Share of external instances solved with so many moves too many."""
    if found.known is None:
        return None
    extra = int(row["quantity"].split("_")[2])
    rows = found.known.rows
    return _share(found.known, rows["cost"] == rows["optimal"] + extra, found.known.what)


def _nodes(found: Findings, row: Row) -> Answer | None:
    """Mean nodes of a search; the paper's count of expanded nodes, as the thesis has it, is of generated ones."""
    column = "nodes_expanded" if row["quantity"].startswith("nodes_expanded") else "nodes_generated"
    if not math.isnan(row["distance"]):
        one = found.prefix(row)
        return None if one is None else Answer(float(one.rows[column].iloc[0]), one.file, note=one.what)
    if row["model"] in OPTIMAL:
        return _of_exact(found, column)
    if row["model"] not in LEARNED or found.scrambled is None:
        return None
    nodes, notes = found.scrambled.rows, [_notes(found, row)]
    if row["model"] == "DeepCubeA":
        column = "nodes_generated"
        notes.append("nodes generated, which is what the paper counts")
    value, low, high = mean_interval(nodes[column])
    if row["quantity"].endswith("_most"):
        value, low, high = float(nodes[column].max()), NAN, NAN
    return Answer(value, found.scrambled.file, low, high, note="; ".join(notes))


def _of_exact(found: Findings, column: str) -> Answer | None:
    """A mean over the searches of the exact solver, where all of them ended with a solution."""
    if found.all_exact is None:
        return None
    value, low, high = mean_interval(found.all_exact.rows[column])
    return Answer(value, found.all_exact.file, low, high, note=found.all_exact.what)


def _nodes_per_second(found: Findings, row: Row) -> Answer | None:
    """Nodes generated a second, by the exact solver or by the searches that stand for the study."""
    searches = found.exact if row["model"] in OPTIMAL else found.scrambled if row["model"] in LEARNED else None
    if searches is None or not searches.rows["seconds"].sum():
        return None
    value = searches.rows["nodes_generated"].sum() / searches.rows["seconds"].sum()
    return Answer(value, searches.file, note=searches.what)


def _times_faster(found: Findings, row: Row) -> Answer | None:
    """Mean seconds of the exact solver over those of the searches that stand for the study."""
    exact, own = _of_exact(found, "seconds"), found.scrambled
    if exact is None or own is None:
        return None
    note = f"{exact.note}; {own.what}"
    return Answer(exact.value / own.rows["seconds"].mean(), own.file, note=note)


def _patterns(found: Findings, row: Row) -> Answer | None:
    """How many patterns of so many tiles the study's first pattern database has."""
    side, texts = make(row["puzzle"]).side, found.results.asked.pattern_databases.values()
    tiles = int(row["quantity"].split("_")[2])
    counts = [sum(len(pattern) == tiles for pattern in parse_partition(side, text)) for text in texts]
    return Answer(counts[0], f"config/{found.results.study}.yaml") if counts else None


def _seconds(found: Findings, row: Row) -> Answer | None:
    if not math.isnan(row["distance"]):
        one = found.prefix(row)
        return None if one is None else Answer(float(one.rows["seconds"].iloc[0]), one.file, note=one.what)
    if row["model"] in OPTIMAL:
        exact = _of_exact(found, "seconds")
        if exact is None or row["quantity"] != "longest_time":
            return exact
        longest = found.all_exact.rows["seconds"].max() / SECONDS[row["unit"]]
        return replace(exact, value=longest, low=NAN, high=NAN)
    if row["model"] not in LEARNED or found.scrambled is None:
        return None
    value, low, high = mean_interval(found.scrambled.rows["seconds"])
    if row["quantity"] == "longest_time":
        value, low, high = found.scrambled.rows["seconds"].max() / SECONDS[row["unit"]], NAN, NAN
    return Answer(value, found.scrambled.file, low, high, note=_notes(found, row))


def _consistent(found: Findings, row: Row) -> Answer | None:
    shares = found.table("audits/{}/consistency")
    if shares is None:
        return None
    last = shares.sort_values("iteration").iloc[-1]
    low, high = share_interval(last["consistent_percent"], last["states"])
    note = f"our last checkpoint, iteration {last['iteration']:,.0f} of another trainer"
    return Answer(last["consistent_percent"], found.path("audits/{}/consistency"), low, high, note=note)


def _admissible(found: Findings, row: Row) -> Answer | None:
    """Share of states not overestimated: of external instances, else of those in the exact table."""
    slack = 1 if row["quantity"] == "admissible_within_one_percent" else 0
    if found.judged is not None:
        rows = found.judged.rows
        note = f"cost-to-go of {found.judged.what.split(',')[0]}, all scrambled by 1,000 moves or more"
        return _share(found.judged, rows["cost_to_go"] <= rows["optimal"] + slack, note)
    near = found.table("audits/{}/nearby")
    if near is None or slack:
        return None
    share = (near["admissible_percent"] * near["states"]).sum() / near["states"].sum()
    note = f"states up to {near['distance'].max()} moves away, where distances are known"
    return Answer(share, found.path("audits/{}/nearby"), note=note)


def _overestimation(found: Findings, row: Row) -> Answer | None:
    """Mean overestimate of external instances that are overestimated."""
    if found.judged is None:
        return None
    over = found.judged.rows["cost_to_go"] - found.judged.rows["optimal"]
    value, low, high = mean_interval(over[over > 0])
    note = f"over the {(over > 0).sum()} overestimated of {found.judged.what.split(',')[0]}"
    return Answer(value, found.judged.file, low, high, note=note)


def _triplet(found: Findings, row: Row) -> Answer | None:
    """Shares of patterns in our solutions of external instances, else of the widest beams."""
    if row["model"] not in LEARNED or found.scrambled is None:
        return None
    shares = triplets(found.results)
    own = shares[shares["model"] == found.model] if len(shares) else shares
    if own.empty:
        return None
    external = own[own["searches"].str.startswith("external")]
    chosen = (external if len(external) else own).iloc[-1]
    if not chosen["triplets"]:
        return None  # every solution has fewer than three moves
    note = f"{chosen['solutions']} solutions: {chosen['searches']}"
    low, high = share_interval(chosen[row["quantity"]], chosen["triplets"])
    file = found.path(f"{'external' if len(external) else 'beams'}/{{}}/searches")
    return Answer(chosen[row["quantity"]], file, low, high, note=note)


def _mirrored(found: Findings, row: Row) -> Answer | None:
    if row["model"] not in LEARNED:
        return None
    pairs = mirrored(found.results)
    own = pairs[pairs["model"] == found.model] if len(pairs) else pairs
    if own.empty:
        return None
    last = own.iloc[-1]
    of = {"symmetric_solution_percent": "pairs", "same_length_percent": "asymmetric"}[row["quantity"]]
    if not last[of]:
        return None
    low, high = share_interval(last[row["quantity"]], last[of])
    searched = beams_text(found.results, last["set"], last["width"])
    note = f"{last[of]:.0f} {'pairs' if of == 'pairs' else 'other pairs'}, {searched}"
    return Answer(last[row["quantity"]], found.path("beams/{}/searches"), low, high, note=note)


def _tried(found: Findings, row: Row) -> Answer | None:
    """The λ or N where our grid has it, together with the other where the row names both."""
    grid = found.table("searches/{}/grid")
    if grid is None or row["model"] not in LEARNED:
        return None
    alike = pd.Series(True, index=grid.index)
    for name in ("path_weight", "batch_size"):
        if not math.isnan(row[name]):
            alike &= np.isclose(grid[name], row[name])
    note = "in our grid"
    return Answer(row["value"], found.path("searches/{}/grid"), note=note) if alike.any() else None


def _chosen(found: Findings, row: Row) -> Answer | None:
    """The λ or N of the cell that solves most and, of those, with the fewest moves."""
    grid = found.table("searches/{}/grid")
    if grid is None or row["model"] not in ("DeepCubeA", "Report_DNN"):
        return None
    best = best_cell(grid)
    note = "of the cell of our grid that solves most, of those with the fewest moves, of those with the fewest nodes"
    return Answer(best[row["quantity"].removesuffix("_chosen")], found.path("searches/{}/grid"), note=note)


def _feasible(found: Findings, row: Row) -> Answer | None:
    """The least or the greatest λ at which BWAS solves every instance with some N."""
    grid = found.table("searches/{}/grid")
    if grid is None:
        return None
    weights = grid.loc[grid["solved_percent"] == 100, "path_weight"]
    value = weights.min() if row["relation"] == ">=" else weights.max()
    note = f"λ at which every {found.noun} is solved within the cap on nodes with some N"
    return Answer(value, found.path("searches/{}/grid"), note=note)


def _states_sampled(found: Findings, row: Row) -> Answer | None:
    """How many states our set or audit of the same kind has."""
    asked = found.results.asked
    walks = [kind.states for name, kind in asked.instances.items() if found.is_scrambled(name)]
    counts: dict[str, float] = {
        "walks": len(found.external.rows) if found.external else sum(walks[:1]) or NAN,
        "grid": next((asked.instances[s.set].states for s in asked.grids if found.is_scrambled(s.set)), NAN),
        "farthest": len(shortest_path_sets(found.results)) or NAN,
        "consistency": asked.audit.consistency_states,
        "scrambled": asked.audit.scrambled_states * asked.audit.depths,
        "depth": asked.audit.scrambled_states,
    }
    return Answer(counts.get(SAMPLES.get(row["set"]), NAN), f"config/{found.results.study}.yaml")


def _states_seen(found: Findings, row: Row) -> Answer | None:
    if row["model"] not in LEARNED:
        return None
    return Answer(found.of_training("states_seen"), found.path("models/{}", ".json"), note=_training_note(found))


def _states_seen_percent(found: Findings, row: Row) -> Answer | None:
    seen = _states_seen(found, row)
    return replace(seen, value=100 * seen.value / make(row["puzzle"]).state_count) if seen else None


def _training_note(found: Findings) -> str:
    trainers = {
        name: found.results.model(name).trainer.replace("_", " ") for name in found.results.lineage(found.model)
    }
    return f"the whole training of {' and '.join(f'{name} ({trainer})' for name, trainer in trainers.items())}"


def _training_time(found: Findings, row: Row) -> Answer | None:
    if row["model"] not in LEARNED:
        return None
    value = found.seconds / SECONDS[row["unit"]]
    if row["quantity"] == "iteration_time":
        value /= found.of_training("iterations")
    return Answer(value, found.path("timings/models/{}", ".json"), note=_training_note(found))


def _convergence(found: Findings, row: Row) -> Answer | None:
    """Convergence points, which value iteration alone has."""
    model = found.davi(row)
    answered = model and answer_default(found.results, {**row, "model": model})
    return replace(answered, note=f"{model}, {answered.note}".removesuffix(", ")) if answered else None


def _setting(name: str, of_davi: bool = False):
    """A finder of a parameter of the training, or of the study's training by value iteration."""

    def find(found: Findings, row: Row) -> Answer | None:
        model = found.davi(row) if of_davi else found.model
        if row["model"] not in LEARNED or model is None:
            return None
        training = value = found.results.model(model)
        for part in name.split("."):
            if isinstance(value, list | tuple) and int(part) >= len(value):
                return None  # fewer layers
            value = value[int(part)] if isinstance(value, list | tuple) else value.value(part)
        if name == "architecture.layers_per_block" and not training.architecture.value("residual_blocks"):
            value = 0
        return None if value is None else Answer(float(value), f"config/{found.results.study}.yaml")

    return find


def _last_rate(found: Findings, row: Row) -> Answer | None:
    """The learning rate at the end of the training, in per cent of the first, where it falls by a factor."""
    model = found.results.model(found.model)
    last = 100 * model.learning_rate_factor**model.iterations
    return None if last == 100 else Answer(last, f"config/{found.results.study}.yaml")


def _convolutions(found: Findings, row: Row) -> Answer | None:
    """Numbers of a convolutional network, where the study's is one."""
    architecture = found.results.model(found.model).architecture
    if row["model"] not in LEARNED or architecture.kind != "convolutional":
        return None
    numbers = {
        "convolutional_layers": len(architecture.channels),
        "linear_layers": len(architecture.first_layers) + 1,
        "kernel_side": architecture.kernel,
        "stride": 1,
        "padding": 0,
        "padding_first_layer": PADDING,
        "input_channels": make(row["puzzle"]).letters,
    }
    return Answer(numbers[row["quantity"]], f"config/{found.results.study}.yaml")


CONVOLUTIONS = (
    *("convolutional_layers", "linear_layers", "kernel_side", "stride", "padding", "padding_first_layer"),
    "input_channels",
)
SETTINGS = {
    "scramble_moves_max": _setting("sampler.walk_max"),
    "states_per_iteration": _setting("states_per_iteration"),
    "validation_states": _setting("validation_states"),
    "training_batch_size": _setting("minibatch"),
    "check_interval": _setting("check_every"),
    "checkpoint_interval": _setting("checkpoint_every"),
    "learning_rate": _setting("learning_rate"),
    "learning_rate_decay": _setting("learning_rate_factor"),
    "learning_rate_last_percent": _last_rate,
    "forced_update_iteration": _setting("forced_update"),
    **dict.fromkeys(CONVOLUTIONS, _convolutions),
    "first_layer_neurons": _setting("architecture.first_layers.0"),
    "second_layer_neurons": _setting("architecture.first_layers.1"),
    "residual_layer_neurons": _setting("architecture.first_layers.-1"),
    "residual_blocks": _setting("architecture.residual_blocks"),
    "residual_layers": _setting("architecture.layers_per_block"),
    "total_iterations": _setting("iterations"),
    "loss_threshold": _setting("epsilon", of_davi=True),
    "walk_offset": _setting("sampler.conv_point_offs", of_davi=True),
    "states_sampled": _states_sampled,
    "patterns_of_5_tiles": _patterns,
    "patterns_of_3_tiles": _patterns,
    "path_weight_tried": _tried,
    "batch_size_tried": _tried,
    "path_weight_chosen": _chosen,
    "batch_size_chosen": _chosen,
}
FINDERS = SETTINGS | {
    "states": _states,
    "actions": _of_puzzle,
    "stickers": _of_puzzle,
    "lights": _of_puzzle,
    "actions_corner": _of_puzzle,
    "actions_edge": _of_puzzle,
    "cubelets": _of_puzzle,
    "input_size": _of_puzzle,
    "move_sequences": _move_sequences,
    "length": _length,
    "length_most": _length_most,
    "length_ratio": _length_ratio,
    "solved_percent": _solved,
    "states_solved": _states_solved,
    "optimal_percent": _optimal,
    "extra_moves": _moves_too_many,
    "extra_moves_2_percent": _extra_moves,
    "extra_moves_4_percent": _extra_moves,
    "nodes_expanded": _nodes,
    "nodes_expanded_most": _nodes,
    "nodes_generated": _nodes,
    "nodes_per_second": _nodes_per_second,
    "seconds": _seconds,
    "seconds_ratio_pdb": _times_faster,
    "longest_time": _seconds,
    "consistent_percent": _consistent,
    "admissible_percent": _admissible,
    "admissible_within_one_percent": _admissible,
    "overestimation_mean": _overestimation,
    "conjugate_triplet_percent": _triplet,
    "aba_triplet_percent": _triplet,
    "aab_triplet_percent": _triplet,
    "abb_triplet_percent": _triplet,
    "symmetric_solution_percent": _mirrored,
    "same_length_percent": _mirrored,
    "path_weight_feasible": _feasible,
    "states_seen": _states_seen,
    "states_seen_percent": _states_seen_percent,
    "training_time": _training_time,
    "iteration_time": _training_time,
    "convergence_points": _convergence,
    "convergence_point_iteration": _convergence,
}
