"""What searches on a puzzle whose states are sampled found: of scrambled states, of prefixes, by the exact solver.

Searches of the headline model; costtogo.literature.answers says which of them represent the study.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from costtogo.analysis.solutions import triplet_shares
from costtogo.literature.counterparts import LEARNED, OPTIMAL, OTHER_SETS
from costtogo.literature.finding import Finding, Row, absent, finds, mean, share
from costtogo.literature.reported import SECONDS
from costtogo.literature.words import NOT_COMPARABLE, NOT_REACHED
from costtogo.params.instances import WalkInstances
from costtogo.puzzles import make, noun
from costtogo.tables.results import StudyResults, alike, once
from costtogo.tables.searches import beams_text, exact_solutions, mirrored, released, shortest_path_sets, triplets

NEARLY_ALL = 0.95  # of searches must be solved for a mean of those solved to represent all
OTHER_TABLES = ("Korf", "Rokicki")  # solvers of the 3×3×3 cube whose tables are smaller or larger than ours
SCRAMBLED = 100  # moves; after so many, a walk may have ended at any state


class Searches(NamedTuple):
    """Searches of one kind: a row each, the file they are in, what they are, the group of stages that made them."""

    rows: pd.DataFrame
    file: str
    what: str
    solver: str

    @property
    def solved(self) -> pd.DataFrame:
        """Those that ended with a solution."""
        return self.rows[self.rows["solved"]]


def is_scrambled(results: StudyResults, name: str) -> bool:
    """Whether a set is drawn by walks so long that they end anywhere."""
    kind = results.asked.instances[name]
    return isinstance(kind, WalkInstances) and kind.length[0] >= SCRAMBLED


def searches_in(results: StudyResults, table: str, rows: pd.DataFrame, keys: list[str], what: str) -> Searches:
    """Some rows of a table of searches with their seconds, NaN where they may not be seen."""
    clock = results.find_frame(f"timings/{table.removesuffix('/searches')}")
    if clock is None:
        timed = rows.assign(seconds=np.nan)
    else:
        of = [name for name in (*keys, "instance") if name in clock]  # some clocks have only a mean for each setting
        timed = rows.merge(clock[[*of, "seconds"]], on=of)
    return Searches(timed, results.place(table), what, table.partition("/")[0])


@once
def external(results: StudyResults) -> Searches | None:
    """The searches of external instances under the longest budget."""
    table = f"external/{results.headline_model}/searches"
    found = results.find_frame(table)
    if found is None:
        return None
    asked, allowed = results.asked.external, found["seconds_allowed"].max()
    rows = found[found["seconds_allowed"] == allowed]
    what = f"the first {len(rows)} {noun(results.puzzle)}s of {asked.file}, {asked.budget(allowed).searched}"
    return searches_in(results, table, rows, ["seconds_allowed"], what)


@once
def beams(results: StudyResults) -> Searches | None:
    """The widest beams of the first set of scrambled states that was searched."""
    table = f"beams/{results.headline_model}/searches"
    found = results.find_frame(table)
    sets = [beams.set for beams in results.asked.beams if is_scrambled(results, beams.set)]
    rows = found[found["set"].isin(sets[:1])] if found is not None else ()
    if not len(rows):
        return None
    rows = rows[rows["width"] == rows["width"].max()]
    how = beams_text(results, sets[0], rows["width"].iloc[0])
    what = f"{len(rows)} {noun(results.puzzle)}s of the set {sets[0]}, {how}"
    return searches_in(results, table, rows.assign(optimal=rows["distance"]), ["set", "width"], what)


Chosen = Callable[[StudyResults, str], bool]  # whether a set is one of those that are asked about


def trees(results: StudyResults, of: Chosen) -> Searches | None:
    """The trees by policy and values, with all shortening, of the first of some sets that was searched so.

    The first c that the study asks for on it is taken.
    """
    table = f"trees/{results.headline_model}/searches"
    rows, setting, what = _of_whole_trees(results, table, of)
    if rows.empty:
        return None
    return searches_in(results, table, rows.assign(optimal=rows["distance"]), setting, what)


def trees_in_short(results: StudyResults, of: Chosen) -> dict[str, Any] | None:
    """The row of the grid of the same trees, and what they are."""
    rows, _, what = _of_whole_trees(results, f"trees/{results.headline_model}/grid", of)
    return None if rows.empty else {**rows.iloc[0], "what": what}


def _of_whole_trees(results: StudyResults, table: str, of: Chosen) -> tuple[pd.DataFrame, list[str], str]:
    """The rows of a table of trees, the columns of their setting, and what was searched, in words."""
    found = results.find_frame(table)
    order = [name for name in results.asked.instances if of(results, name)]
    asked = [each for each in results.asked.by_group.get("trees", []) if each.is_whole and each.set in order]
    if found is None or not asked:
        return pd.DataFrame(), [], ""
    first = min(asked, key=lambda each: order.index(each.set))
    setting = dict(zip(first.cell, first.settings[0], strict=True))
    rows = found[(found[list(setting)] == pd.Series(setting)).all(axis=1)]
    count = len(rows) if "instance" in rows else int(rows["instances"].sum())
    what = f"{count:,} {noun(results.puzzle)}s of the set {first.set}, {first.searched(setting['exploration'])}"
    return rows, list(setting), what


@once
def scrambled_trees(results: StudyResults) -> Searches | None:
    """Those of the scrambled states."""
    return trees(results, is_scrambled)


@once
def exact(results: StudyResults) -> Searches | None:
    """What the exact solver found of the sets of scrambled states."""
    found = exact_solutions(results)
    sets = [name for name in dict.fromkeys(found["set"]) if is_scrambled(results, name)] if found is not None else []
    if not sets:
        return None
    rows, how = found[found["set"].isin(sets)], results.asked.exact_solver
    sets_text = f"the set{'s' if len(sets) > 1 else ''} {' and '.join(sets)}"
    what = f"{len(rows)} {noun(results.puzzle)}s of {sets_text}, {how}"
    return searches_in(results, f"optima/{results.puzzle}", rows, ["set"], what)


def scrambled(results: StudyResults) -> Searches | None:
    """The searches that represent the study."""
    return external(results) or scrambled_trees(results) or beams(results)


def with_optima(results: StudyResults) -> Searches | None:
    """Those whose optima are known; the beams, where the optima of external instances are not."""
    return external_with_optima(results) or _if_optima_are_known(beams(results))


def external_with_optima(results: StudyResults) -> Searches | None:
    """External instances whose optima are known: they have the cost-to-go of each, too."""
    return _if_optima_are_known(external(results))


def solved_exactly(results: StudyResults) -> Searches | None:
    """What the exact solver found, where it solved all."""
    found = exact(results)
    return found if found and found.rows["solved"].all() else None


def _if_optima_are_known(found: Searches | None) -> Searches | None:
    """The same searches where the optima of all are known."""
    return found if found and found.rows["optimal"].notna().all() else None


def searches_for(results: StudyResults, row: Row) -> Searches | None:
    """The searches compared with a row's: those of the exact solver, or those that represent the study."""
    if row["model"] in OPTIMAL:
        return solved_exactly(results)
    return scrambled(results) if row["model"] in LEARNED else None


def prefix(results: StudyResults, row: Row) -> Searches | None:
    """The widest beam from a beginning of a shortest path, as long as the row's distance."""
    table = f"beams/{results.headline_model}/searches"
    found = results.find_frame(table)
    if found is None or math.isnan(row["distance"]):
        return None
    found = found[found["set"].isin(shortest_path_sets(results)) & (found["distance"] == row["distance"])]
    if found.empty:
        return None
    one = found.sort_values("width").tail(1)
    what = beams_text(results, *one[["set", "width"]].iloc[0])
    return searches_in(results, table, one, ["set", "width"], what)


def described(results: StudyResults, searches: Searches, row: Row) -> str:
    """What searches are, and what BWAS found at the row's λ and N, where the study's grid has them."""
    grid = results.find_frame(f"searches/{results.headline_model}/grid")
    if grid is None or math.isnan(row["path_weight"]) or math.isnan(row["batch_size"]):
        return searches.what
    cells = alike(grid, row, "path_weight", "batch_size")
    if cells.empty:
        return searches.what
    cell = cells.iloc[0]
    asked = [search for search in results.asked.grids if search.set == cell["set"]]
    most = next(search.max_nodes for search in asked if cell["batch_size"] in search.batch_size)
    length = f" in {cell['length']:.2f} moves" if cell["solved_percent"] else ""
    return (
        f"{searches.what}; BWAS at this λ and N, at most {most:,} nodes, solves {cell['solved_percent']:.0f} % of"
        f" {cell['instances']:.0f} {noun(results.puzzle)}s of the set {cell['set']}{length}"
    )


def _with_files(results: StudyResults, searches: Searches, column: str) -> str:
    """What searches are and, of external instances, what DeepCubeA's released files have on those that both solved.

    column: of costtogo.tables.searches.released, a mean over them.
    """
    rows = once(released)(results) if searches.solver == "external" else pd.DataFrame()
    mine = rows[rows["model"] == results.headline_model] if len(rows) else rows
    longest = mine.loc[mine["seconds_allowed"].idxmax()] if len(mine) else None
    if longest is None or math.isnan(longest[column]):
        return searches.what
    unit = " %" if column.endswith("percent") else " moves"
    return (
        f"{searches.what}; DeepCubeA's released files have {longest[column]:.2f}{unit} on {longest['pairs']} of these"
    )


def _unsolved(searches: Searches) -> Finding | None:
    """That there is no mean of all, where too many ended unsolved."""
    solved, count = int(searches.rows["solved"].sum()), len(searches.rows)
    few = solved < NEARLY_ALL * count
    return absent(NOT_REACHED, f"{solved} of {searches.what}, solved: no mean of all") if few else None


def share_of(searches: Searches, holds: pd.Series, note: str) -> Finding:
    """The share of searches of which something holds."""
    return share(100 * float(holds.mean()), len(holds), note, searches.file)


@finds("length", of="sampled")
def length(results: StudyResults, row: Row) -> Finding | None:
    """Mean length: of shortest solutions where the row's solver finds those, else of ours if nearly all are
    solved."""
    if row["model"] not in OPTIMAL:
        found = searches_for(results, row)
        if found is None or (left := _unsolved(found)):
            return found and left
        told = described(results, found, row)
        if row["model"] == "DeepCubeA":
            told = _with_files(results, found._replace(what=told), "their_length")
        return mean(found.solved["cost"], told, found.file)
    if found := solved_exactly(results):
        return mean(found.rows["distance"], found.what, found.file)
    found = external_with_optima(results)
    return found and replace(mean(found.rows["optimal"], f"the optima of {found.what}", found.file), told=True)


@finds("length_most", of="learned", table="searches/{ours}/searches")
def longest_solution(results: StudyResults, row: Row, searches: pd.DataFrame) -> Finding:
    """The longest solution of BWAS at the row's λ."""
    solved = searches[np.isclose(searches["path_weight"], row["path_weight"]) & searches["solved"]]
    return Finding(solved["cost"].max(), f"{len(solved)} solutions of BWAS at this λ with every N")


@finds("length_ratio", "extra_moves", "extra_moves_2_percent", "extra_moves_4_percent", of="learned")
def beside_optima(results: StudyResults, row: Row) -> Finding | None:
    """How much longer solutions are than the shortest, and the shares of those that are by two moves or by four."""
    found = with_optima(results)
    if found is None or not math.isnan(row["distance"]):
        return None
    lengths, optima = found.solved["cost"], found.solved["optimal"]
    if row["quantity"] == "length_ratio":
        return Finding(lengths.mean() / optima.mean(), found.what, file=found.file)
    if row["quantity"] == "extra_moves":
        return mean(lengths - optima, found.what, found.file)
    extra = int(row["quantity"].split("_")[2])
    return share_of(found, found.rows["cost"] == found.rows["optimal"] + extra, found.what)


@finds("solved_percent", "states_solved", of="learned")
def solved(results: StudyResults, row: Row) -> Finding | None:
    """Share of scrambled states solved."""
    found = scrambled(results)
    if found is None or row["set"] in OTHER_SETS:
        return None
    of_hundred = "of each hundred; " if row["quantity"] == "states_solved" else ""
    return share_of(found, found.rows["solved"], of_hundred + described(results, found, row))


@finds("solved_percent", of="sampled")
def solved_greedily(results: StudyResults, row: Row) -> Finding | None:
    """The same of a policy that takes the best move, which is compared with greedy search."""
    address, depth = f"audits/{results.headline_model}/greedy", str(row["set"]).rpartition("_")[2]
    shares = results.find_frame(address)
    if row["model"] != "policy_network" or shares is None or not depth.isdigit():
        return None
    last = shares[(shares["iteration"] == shares["iteration"].max()) & (shares["depth"] == int(depth))]
    if last.empty:
        return None
    note = "greedy search by the cost-to-go, which like that network searches nothing"
    return share(*last[["solved_percent", "states"]].iloc[0], note, results.place(address))


@finds("optimal_percent", of="sampled")
def optimal(results: StudyResults, row: Row) -> Finding | None:
    """Share of the solutions that are shortest: from a prefix of a shortest path, or of scrambled states."""
    if not math.isnan(row["distance"]):
        one = prefix(results, row)
        if one and row["distance"] <= results.asked.nearby_depth:
            return _known(results)
        first = "one such state; " if row["set"] == "distance_26" else ""
        return one and share_of(one, one.rows["cost"] == one.rows["distance"], first + one.what)
    found = with_optima(results) if row["model"] == "DeepCubeA" else None
    told = found and _with_files(results, found, "their_optimal_percent")
    return found and share_of(found, found.rows["cost"] == found.rows["optimal"], told)


@finds("nodes_expanded", "nodes_expanded_most", "nodes_generated", "seconds", "longest_time", of="sampled")
def of_each_search(results: StudyResults, row: Row) -> Finding | None:
    """Nodes or seconds of a search, their mean or their most; what DeepCubeA calls expanded are those generated."""
    quantity = row["quantity"]
    column = {"nodes_expanded_most": "nodes_expanded", "longest_time": "seconds"}.get(quantity, quantity)
    if not math.isnan(row["distance"]):
        return _of_prefix(results, row, column)
    found = searches_for(results, row)
    if found is None:
        return None
    if row["model"] in LEARNED and (left := _unsolved(found)):
        return left
    note = found.what if row["model"] in OPTIMAL else described(results, found, row)
    if row["model"] in OTHER_TABLES and column == "nodes_expanded":
        return absent(NOT_COMPARABLE, f"{found.rows[column].mean():,.0f} of {note}: another table than that solver's")
    if row["model"] == "DeepCubeA" and column != "seconds":
        column, note = "nodes_generated", f"{note}; nodes generated, which is what the paper counts"
    values = found.rows[column]
    if quantity == "longest_time":
        return Finding(values.max() / SECONDS[row["unit"]], note, file=found.file)
    if quantity.endswith("_most"):
        return Finding(float(values.max()), note, file=found.file)
    return replace(mean(values, note, found.file), solver=found.solver)


def _known(results: StudyResults) -> Finding:
    """That a state is so near to the goal that nothing is searched."""
    depth = results.asked.nearby_depth
    return absent(NOT_COMPARABLE, f"no search: the exact table of {depth} moves around the goal knows the state")


def _of_prefix(results: StudyResults, row: Row, column: str) -> Finding | None:
    """Nodes or seconds of the search from a beginning of a shortest path; none where the exact table solves it."""
    one = prefix(results, row)
    if one and column.startswith("nodes") and row["distance"] <= results.asked.nearby_depth:
        return _known(results)
    return one and Finding(float(one.rows[column].iloc[0]), one.what, file=one.file, solver=one.solver)


@finds("out_of_memory_path_weight", of="sampled", table="baselines/korf/grid")
def out_of_memory(results: StudyResults, row: Row, grid: pd.DataFrame) -> Finding:
    """BWAS over the same databases, which ends at a number of nodes and not where a memory does."""
    cells = grid[grid["batch_size"] == grid["batch_size"].max()]
    cell = cells.loc[(cells["path_weight"] - row["value"]).abs().idxmin()]
    told = f"at λ = {cell['path_weight']:g} it reaches its limit of nodes in {cell['out_of_memory_percent']:.0f} %"
    return absent(NOT_COMPARABLE, f"BWAS over these databases has a limit of nodes here, not of memory; {told}")


@finds("scramble_moves_solved", of="sampled", table="baselines/manhattan/grid")
def scrambles_solved(results: StudyResults, row: Row, grid: pd.DataFrame) -> Finding | None:
    """How far scrambles are solved by Manhattan distance, which hangs on the limit of the program."""
    if row["model"] != "Manhattan":
        return None
    cell = grid.loc[grid["solved_percent"].idxmax()]
    told = f"{cell['solved_percent']:.0f} % of {cell['instances']:.0f} boards of the set {cell['set']}"
    return absent(
        NOT_COMPARABLE, f"that program's limit is not told: BWAS with λ = {cell['path_weight']:g} solves {told}"
    )


@finds("nodes_per_second", of="sampled")
def nodes_per_second(results: StudyResults, row: Row) -> Finding | None:
    """Nodes generated a second, also where the exact solver did not solve all."""
    found = exact(results) if row["model"] in OPTIMAL else searches_for(results, row)
    if found is None or not found.rows["seconds"].sum():
        return None
    return Finding(found.rows["nodes_generated"].sum() / found.rows["seconds"].sum(), found.what, file=found.file)


@finds("seconds_ratio_pdb", of="learned")
def times_faster(results: StudyResults, row: Row) -> Finding | None:
    """Mean seconds of the exact solver over those of the searches that represent the study."""
    theirs, own = solved_exactly(results), scrambled(results)
    if theirs is None or own is None:
        return None
    ratio = mean(theirs.rows["seconds"]).value / own.rows["seconds"].mean()
    return Finding(ratio, f"{theirs.what}; {own.what}", file=own.file)


# Patterns of the solutions, and mirrored states
@finds("conjugate_triplet_percent", "aba_triplet_percent", "aab_triplet_percent", "abb_triplet_percent", of="learned")
def triplet(results: StudyResults, row: Row) -> Finding | None:
    """Shares of patterns in our solutions of external instances, else of the widest beams."""
    own = _of_model(once(triplets)(results), row["ours"]) if scrambled(results) else pd.DataFrame()
    outside = own[own["searches"].str.startswith("external")] if len(own) else own
    chosen = outside if len(outside) else own
    if chosen.empty or not chosen["triplets"].iloc[-1]:  # every solution has fewer than three moves
        return None
    last, group = chosen.iloc[-1], "external" if len(outside) else "beams"
    note = f"{last['solutions']} solutions: {last['searches']}"
    return share(last[row["quantity"]], last["triplets"], note, results.place(f"{group}/{row['ours']}/searches"))


@finds("conjugate_triplet_percent", "aba_triplet_percent", "aab_triplet_percent", "abb_triplet_percent", of="sampled")
def shortest_triplet(results: StudyResults, row: Row) -> Finding | None:
    """The same shares in the exact solver's solutions, of a solver that finds shortest ones."""
    found, puzzle = solved_exactly(results) if row["model"] in OPTIMAL else None, make(results.puzzle)
    if found is None or "solution" not in found.rows:  # a study kept before solutions were
        return None
    shares = triplet_shares(puzzle, [puzzle.parse_moves(text) for text in found.rows["solution"]])
    return share(shares[row["quantity"]], shares["triplets"], found.what, found.file) if shares["triplets"] else None


@finds("symmetric_solution_percent", "same_length_percent", of="learned", table="beams/{ours}/searches")
def mirror_images(results: StudyResults, row: Row, searches: pd.DataFrame) -> Finding | None:
    """Shares of pairs of states that mirror each other, by how the widest beams solved them."""
    own = _of_model(once(mirrored)(results), row["ours"])
    of = "pairs" if row["quantity"] == "symmetric_solution_percent" else "asymmetric"
    if own.empty or not own[of].iloc[-1]:
        return None
    last, pairs = own.iloc[-1], "pairs" if of == "pairs" else "other pairs"
    note = f"{last[of]:.0f} {pairs}, {beams_text(results, last['set'], last['width'])}"
    return share(last[row["quantity"]], last[of], note)


def _of_model(rows: pd.DataFrame, model: str) -> pd.DataFrame:
    return rows[rows["model"] == model] if len(rows) else rows
