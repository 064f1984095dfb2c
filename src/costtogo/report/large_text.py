"""The report on a large puzzle as Markdown: the key results, a section for each part of the study, the literature."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from costtogo.analysis.literature import DOCUMENTS, NETWORKS, numbers_of
from costtogo.figures.catalogue import FigureEntry
from costtogo.figures.catalogue_large import drawable
from costtogo.puzzles import make, noun
from costtogo.report.large_tables import beams_text, last_point, shortest_path_sets
from costtogo.report.literature import documents, explanations
from costtogo.report.markdown import amount, frame_table, percent, places, short, table
from costtogo.report.results import StudyResults
from costtogo.report.text import gallery, interval_text, provenance_text, puzzle_title, training_table

MODEL = {"model": ("model", "`{}`".format)}
SOLVED = {
    "solved_percent": ("solved, %", percent),
    "lengths": ("mean length, moves [95 % interval]", str),
}
AGAINST_OPTIMA = {  # columns of searches from the study's own instances
    "known": ("of known distance", amount),
    "optimal_percent": ("fewest moves, %", percent),
    "excess": ("moves too many", places(2)),
}
SOLVER_QUANTITIES = {  # of the literature, beside our table of solvers
    "length": ("mean length, moves", places(2)),
    "optimal_percent": ("fewest moves, %", percent),
    "nodes_generated": ("nodes generated", amount),
    "seconds": ("seconds", short),
    "nodes_per_second": ("nodes a second", amount),
}
SLIGHT = 0.005  # moves of mean error at every distance, of a network that is nearly exact
POOLED = ("mean_cost_to_go", "mean_absolute_error", "admissible_percent")
AGAINST_THE_OPTIMUM = ("optimal_length", "optimal", "admissible_percent")  # columns of external instances
KEY_QUANTITIES = {  # rows of the key results, and the literature's quantity in each
    "solved, %": ("solved_percent", "states_solved"),
    "mean length, moves": ("length",),
    "shortest solutions, %": ("optimal_percent",),
    "states seen in training": ("states_seen",),
    "iterations of training": ("total_iterations",),
}


class Report:
    """What every section reads: the study, its results, the tables of the report, the figures that are drawn.

    comparison: the literature's numbers beside ours, as large_comparison.compare has it.
    """

    def __init__(self, results: StudyResults, tables, comparison: pd.DataFrame, captions: Path):
        self.results, self.asked, self.tables, self.captions = results, results.asked, tables, captions
        self.comparison = comparison
        self.figures = drawable(results.params, results.folder)
        self.noun = noun(results.puzzle)
        self.solved = {"instances": (f"{self.noun}s", amount), **SOLVED}

    def drawn(self, kind: str) -> Iterator[str]:
        """The figures of a kind with their caption, if there are any."""
        entries: list[FigureEntry] = [entry for entry in self.figures if entry.kind == kind]
        if entries:
            yield gallery(entries, self.captions)

    def headline_first(self, rows: pd.DataFrame) -> list[dict]:
        """Rows of models, those of the one that stands for the study before the others."""
        ordered = rows.sort_values("model", key=lambda names: names != self.asked.headline, kind="stable")
        return ordered.to_dict("records")

    def missing(self, what: str, target: str = "") -> str:
        """That a part has not run, and how to run it."""
        return f"{what}: not run yet; `snakemake --cores all {self.results.study}{target}` runs it.\n"


def report(results: StudyResults, tables, comparison: pd.DataFrame, captions: Path) -> str:
    """The whole report; tables by the stem of their files, comparison as large_comparison.compare has it."""
    found = Report(results, tables, comparison, captions)
    since = "above Manhattan distance" if _above_bounds(results) else "from nothing"
    parts = [f"# {puzzle_title(results.puzzle)}, learned {since}: the study `{results.study}`\n"]
    sections = (_key_results, _method, _exact, _training, _audit, _grid, _heuristics, _beams, _prefixes)
    sections += (_external, _patterns)
    for section in sections:
        parts += section(found)
    parts += [documents(comparison, **explanations(results))]
    selected = {model: last_point(results, model) for model in results.trained}
    return "\n".join([*parts, *provenance_text(results, selected)])


def _key_results(found: Report) -> Iterator[str]:
    yield "## Key results\n"
    external, beams = found.tables.get("external"), found.tables.get("beams")
    if external is not None:
        for row in found.headline_first(external):
            yield _external_line(found, row)
    if beams is not None:
        drawn = ~beams["set"].isin(shortest_path_sets(found.results))
        own = beams[drawn] if drawn.any() else beams
        widest = own.loc[own.groupby("model", sort=False)["width"].idxmax()]
        for row in found.headline_first(widest):
            yield (
                f"- `{row['model']}`, {row['instances']} {found.noun}s of the set {row['set']},"
                f" {beams_text(found.results, row['set'], row['width'])}: {percent(row['solved_percent'])} %"
                f" solved{_length_text(row)}{_known_text(row)}."
            )
    yield from _compared_lines(found)
    yield from _prefix_lines(found)
    yield ""
    if len(found.comparison):
        yield f"Beside the literature, each with its own solver, budget and {found.noun}s (the notes are below):\n"
        yield _key_table(found.comparison)
    yield from found.drawn("training_costs")
    yield (
        "Wall-clock times are in [timings.md](timings.md), all numbers in [tables/](tables/), and the literature's"
        " beside ours in [reported_vs_reproduced.csv](reported_vs_reproduced.csv).\n"
    )


def _external_line(found: Report, row: dict) -> str:
    """A row of the summary of external instances in words."""
    budget = found.asked.external.budget(row["seconds_allowed"])
    how = f"at most {budget.seconds:g} s each" if budget.path_weight is None else budget.searched
    line = (
        f"- `{row['model']}`, the first {row['first']} {found.noun}s of `{found.asked.external.file}`, {how}:"
        f" {percent(row['solved_percent'])} % solved{_length_text(row)}"
    )
    if pd.isna(row["optimal_length"]):
        return f"{line}."
    return f"{line} where the optimum is {row['optimal_length']:.2f}, {_optimal_text(row)} % with the fewest moves."


def _length_text(row: dict) -> str:
    """The mean length of what was solved, if anything was.  -> ", 22.85 [22.30, 23.40] moves on average"."""
    length = interval_of(row["length"], row["length_low"], row["length_high"])
    return f", {length} moves on average" if row["solved_percent"] else ""


def _known_text(row: dict) -> str:
    """What solutions are beside the optima that are known.  -> ", 95 % of them with the fewest moves"."""
    if not row["known"]:
        return ""
    of = "of them" if row["known"] == row["instances"] else f"of the {row['known']:.0f} whose optimum is known"
    return f", {percent(row['optimal_percent'])} % {of} with the fewest moves"


def interval_of(value: float, low: float, high: float) -> str:
    """A mean with its interval.  -> "22.85 [22.30, 23.40]"."""
    form = places(2)
    return form(value) if pd.isna(low) else f"{form(value)} [{form(low)}, {form(high)}]"


def _optimal_text(row: dict) -> str:
    return interval_text(row["optimal_percent"], row["optimal_percent_low"], row["optimal_percent_high"])


def _prefix_lines(found: Report) -> Iterator[str]:
    """Up to which distance every beginning of the sequence is solved with the fewest moves, and the whole."""
    if "prefixes" not in found.tables:
        return
    for (model, name, width), group in found.tables["prefixes"].groupby(["model", "set", "width"], sort=False):
        group = group.sort_values("distance")
        unbroken = group["distance"][(group["excess"] == 0).cummin()]
        last, count = group.iloc[-1], (group["excess"] == 0).sum()
        whole = f"solved in {last['cost']:.0f}" if last["solved"] else "not solved"
        yield (
            f"- `{model}`, the beginnings of the sequence {name}, {beams_text(found.results, name, width)}: the fewest"
            f" moves at every distance up to {unbroken.max() if len(unbroken) else 0:.0f}, and at {count} of"
            f" {len(group)} in all; the whole, {last['distance']:.0f} moves away, is {whole}."
        )


def _key_table(comparison: pd.DataFrame) -> str:
    """Ours beside each of the literature's networks, one row a quantity; a network's own document comes first."""
    rows = []
    told = {model: numbers_of(comparison[comparison["distance"].isna()], model) for model in NETWORKS}
    told = {model: numbers for model, numbers in told.items() if len(numbers)}
    for title, quantities in KEY_QUANTITIES.items():
        cells, ours = [], []
        for rows_of_model in told.values():
            alike = rows_of_model[rows_of_model["quantity"].isin(quantities)]
            cells.append(amount(alike["reported"].iloc[0]) if len(alike) else "–")
            ours += alike["reproduced"].dropna().tolist()[:1]
        rows.append([title, amount(ours[0]) if ours else "–", *cells])
    return table(["", "this study", *(DOCUMENTS[NETWORKS[model]] for model in told)], rows)


def _method(found: Report) -> Iterator[str]:
    results, trainers = found.results, {model.trainer for model in found.results.params.models.values()}
    yield "## What was done\n"
    how = {
        "random_walk": "by regression on the length of random walks from the goal that never turn back, an upper bound"
        " of the distance",
        "davi": "by deep approximate value iteration" + _on_greedy_walks(results),
        "presses": "on boards that random presses made, row by row by those presses, which are the only solution",
    }
    unseen = "no test" if "presses" in trainers else "no distance and no test"
    one, since = len(trainers) == 1, "from nothing"
    if bounded := _above_bounds(results):
        since = "to tell what is missing from Manhattan distance with linear conflicts, a lower bound"
        since += f" ({', '.join(f'`{name}`' for name in bounded)})"
    yield (
        f"The states up to {found.asked.nearby_depth} moves from the goal were listed; the rest is too large."
        f" {'A network was' if one else 'Networks were'} trained {since},"
        f" {' and '.join(how[name] for name in sorted(trainers))}; {unseen} {found.noun} was shown to"
        f" {'it' if one else 'them'}. Searches ended where they met the listed states, and every solution was"
        " replayed.\n"
    )
    yield from found.drawn("large_states")


def _above_bounds(results: StudyResults) -> list[str]:
    """The models that learn what is missing from a lower bound."""
    return [name for name, model in results.params.models.items() if model.architecture.above]


def _on_greedy_walks(results: StudyResults) -> str:
    """How many of the states of value iteration lie on walks that follow the network, empty where none do."""
    share = max(model.sampler.greedy_share for model in results.params.models.values())
    return f" ({100 * share:g} % of its states on walks that follow the network itself)" if share else ""


def _exact(found: Report) -> Iterator[str]:
    if found.asked.optima is None:
        return
    yield "## Exact solutions\n"
    if found.asked.pattern_databases:
        yield (
            "Additive pattern databases: a table for each pattern of tiles, or for patterns that are images of each"
            " other, holds the moves of its tiles from every placing; the sum never overestimates (Felner, Korf and"
            " Hanan 2004). The larger of the board's sum and of its reflection's counts.\n"
        )
        if "pattern_databases" not in found.tables:
            yield found.missing("Building the pattern databases")
            return
        columns = {
            "database": ("database", "`{}`".format),
            "tiles": ("tiles of its patterns", str),
            "patterns": ("patterns", amount),
            "tables": ("tables", amount),
            "placings": ("placings", amount),
            "bytes": ("file, MB", _megabytes),
            "most_moves": ("most moves of a pattern", amount),
        }
        yield frame_table(found.tables["pattern_databases"], columns)
    if "optima" not in found.tables:
        yield found.missing("Solving the instance sets exactly")
        return
    wanted = found.asked.optima
    how = "linear algebra over GF(2)"
    if wanted.pattern_database:
        how = f"IDA* over `{wanted.pattern_database}`, at most {wanted.max_generated:,} nodes each"
    yield f"Shortest solutions of the study's own {found.noun}s by {how}:\n"
    columns = {
        "set": ("set", str),
        "instances": (f"{found.noun}s", amount),
        "solved_percent": ("solved, %", percent),
        "length": ("mean distance, moves", places(2)),
        "shortest": ("nearest", short),
        "longest": ("farthest", short),
    }
    if wanted.pattern_database:
        columns["nodes_generated"] = ("nodes generated", amount)
        columns["nodes_generated_most"] = ("most", amount)
    yield frame_table(found.tables["optima"], columns)
    if (found.tables["optima"]["solved"] < found.tables["optima"]["instances"]).any():
        yield f"The other {found.noun}s' distances stay unknown; they tend to be the farthest.\n"


def _megabytes(value: float) -> str:
    """Bytes in millions.  576576912 -> "576.6", 4660 -> "0.0047"."""
    return f"{value / 1e6:,.1f}" if value >= 1e5 else f"{value / 1e6:.2g}"


def _training(found: Report) -> Iterator[str]:
    yield "## Training\n"
    if not found.results.trained:
        yield found.missing("The training")
        return
    models = found.results.trained
    yield training_table(found.results, models)
    walks = any(found.results.model(model).trainer == "random_walk" for model in models)
    why = " A random walk is often longer than the distance: the loss does not fall to 0." if walks else ""
    yield f"Parameters are in italics.{why}\n"
    for model in models:
        if start := found.results.model(model).starts_from:
            yield f"`{model}` starts from the last weights of `{start}`.\n"
    yield from found.drawn("loss_curve")


def _audit(found: Report) -> Iterator[str]:
    yield "## Audit\n"
    if "nearby" not in found.tables:
        yield found.missing("The audit")
        return
    yield "States of each distance that the exact table knows, the last checkpoint:\n"
    columns = {
        "distance": ("distance, moves", short),
        "states": ("states", amount),
        "mean_cost_to_go": ("mean cost-to-go, moves", places(3)),
        "mean_absolute_error": ("mean absolute error, moves", places(3)),
        "admissible_percent": ("admissible, %", percent),
        "overestimation_mean": ("mean overestimate, moves", places(3)),
        "overestimation_max": ("largest, moves", places(2)),
    }
    nearby = found.tables["nearby"]
    yield frame_table(nearby, MODEL | columns)
    worst = nearby.groupby("model").agg({"mean_absolute_error": "max", "admissible_percent": "min"})
    if ((worst["mean_absolute_error"] < SLIGHT) & (worst["admissible_percent"] < 100)).any():
        yield (
            "However small, an overestimate makes a state inadmissible here and a violation inconsistent; of a network"
            " that is nearly exact they tell what is left of its errors, thousandths of a move.\n"
        )
    if any(model.trainer == "random_walk" for model in found.results.params.models.values()):
        yield (
            "Random-walk regression learns the mean length of walks, which are longer than the distance: it is not"
            " admissible, and a search gains from the order that it puts states in.\n"
        )
    yield from found.drawn("nearby_audit")
    yield from _audit_where_known(found)
    yield "Consistent states of random walks, by checkpoint (thesis, 5.9):\n"
    columns = {
        "iteration": ("iteration", amount),
        "states": ("states", amount),
        "consistent_percent": ("consistent, %", percent),
    }
    yield frame_table(found.tables["consistency"], MODEL | columns)
    yield from found.drawn("scrambled_costs")
    yield from found.drawn("large_mean_costs")
    yield from found.drawn("greedy_shares")
    yield from _progress(found)


def _progress(found: Report) -> Iterator[str]:
    """BWAS with checkpoints of the training."""
    if "progress" not in found.tables:
        return
    progress, asked = found.tables["progress"], found.asked.audit.progress
    yield (
        f"BWAS with λ = {asked.path_weight:g}, N = {asked.batch_size:,} on the set {asked.set}, by checkpoint; a search"
        f" that keeps {asked.max_nodes:,} nodes ends unsolved:\n"
    )
    columns = {
        "iteration": ("iteration", amount),
        "solved_percent": ("solved, %", percent),
        "length": ("length, moves", places(2)),
        "nodes_expanded": ("nodes expanded", amount),
    }
    if progress["known"].any():
        columns |= {"optimal_percent": ("fewest moves, %", percent), "excess": ("moves too many", places(2))}
    yield frame_table(progress, MODEL | columns)
    yield from found.drawn("progress")


def _audit_where_known(found: Report) -> Iterator[str]:
    """The network beside the exact distances of the study's own instances."""
    if "known" not in found.tables:
        return
    rows = []
    for (model, name), group in found.tables["known"].groupby(["model", "set"], sort=False):
        weights = group["states"] / group["states"].sum()
        means = {column: (group[column] * weights).sum() for column in (*POOLED, "distance")}
        worst = group["overestimation_max"].max()
        rows.append(
            {"model": model, "set": name, "states": group["states"].sum(), **means, "overestimation_max": worst}
        )
    yield f"The study's own {found.noun}s of known distance, the last checkpoint (each distance: *tables/known.csv*):\n"
    columns = {
        "set": ("set", str),
        "states": (f"{found.noun}s", amount),
        "distance": ("mean distance, moves", places(2)),
        "mean_cost_to_go": ("mean cost-to-go", places(2)),
        "mean_absolute_error": ("mean absolute error", places(3)),
        "admissible_percent": ("admissible, %", percent),
        "overestimation_max": ("largest overestimate, moves", places(2)),
    }
    yield frame_table(pd.DataFrame(rows), MODEL | columns)
    yield from found.drawn("known_audit")


def _grid(found: Report) -> Iterator[str]:
    yield "## Batch weighted A* over λ and N\n"
    if "grid" not in found.tables:
        if found.asked.searches:
            yield found.missing("The grid")
        else:
            yield "The study asks for none.\n"
        return
    grid = _with_lengths(found.tables["grid"])
    columns = {
        "set": ("set", str),
        "path_weight": ("λ", short),
        "batch_size": ("N", amount),
        **found.solved,
        **(AGAINST_OPTIMA if grid["known"].any() else {}),
        "nodes_expanded": ("nodes expanded", amount),
        "nodes_generated": ("nodes generated", amount),
        "out_of_memory_percent": ("out of memory, %", percent),
    }
    caps = ", ".join(
        f"{search.max_nodes:,} on the set {search.set} at N = {', '.join(amount(size) for size in search.batch_size)}"
        for search in found.asked.searches
    )
    yield f"A search that keeps as many nodes in memory ends as unsolved: {caps}. The length is of what was solved.\n"
    yield from found.drawn("grid_heat_maps")
    yield frame_table(grid, MODEL | columns)


def _with_lengths(grid: pd.DataFrame) -> pd.DataFrame:
    lengths = grid[["length", "length_low", "length_high"]].to_numpy()
    return grid.assign(lengths=[interval_of(*row) for row in lengths])


def _heuristics(found: Report) -> Iterator[str]:
    """BWAS over networks, pattern databases and the Manhattan distance, and IDA*, on the same instances."""
    if not found.asked.baselines:
        return
    yield "## Networks beside pattern databases\n"
    if "compared" not in found.tables:
        yield found.missing("The searches over pattern databases")
        return
    yield (
        f"The same {found.noun}s, λ × N, limits, engine and exact distances around the goal for every heuristic"
        " (DeepCubeA, figure 2 and tables 2 to 5): each at the network's best λ and N, then at its own best, which"
        " solves most, of those with the fewest moves, of those with the fewest nodes. *manhattan* is the Manhattan"
        " distance with linear conflicts. Pattern databases are admissible and not consistent: a state reached by a"
        " shorter path is expanded again. *Memory* is that of the heuristic alone: weights as stored, or tables."
        " BWAS counts every legal child as generated, IDA* those that it looks up: it leaves out moves that only repeat"
        " others."
        " Seconds are in [timings.md](timings.md), all λ and N in *tables/heuristics.csv*.\n"
    )
    columns = {
        "solver": ("solver", str),
        "heuristic": ("heuristic", "`{}`".format),
        "set": ("set", str),
        "path_weight": ("λ", short),
        "batch_size": ("N", amount),
        **found.solved,
        **AGAINST_OPTIMA,
        "nodes_generated": ("nodes generated", amount),
        "bytes": ("memory, MB", lambda value: "–" if pd.isna(value) else _megabytes(value)),
    }
    yield frame_table(_with_lengths(found.tables["compared"]), columns)
    yield from found.drawn("heuristics_compared")
    yield from _literature_solvers(found.comparison)


def _literature_solvers(comparison: pd.DataFrame) -> Iterator[str]:
    """What the literature tells of its own solvers in the same quantities, on its own machines and instances."""
    told = comparison[comparison["quantity"].isin(SOLVER_QUANTITIES) & comparison["distance"].isna()]
    rows = []
    for (source, model), group in told.groupby(["source", "model"], sort=False):
        numbers = group.drop_duplicates("quantity").set_index("quantity")
        if set(numbers.index) & {"seconds", "nodes_generated"}:
            cells = {name: _bounded(numbers, name, form) for name, (_, form) in SOLVER_QUANTITIES.items()}
            rows.append([f"`{model}`", DOCUMENTS[source], *cells.values()])
    if rows:
        yield "The literature's own, on other machines and instances:\n"
        yield table(["solver", "document", *(title for title, _ in SOLVER_QUANTITIES.values())], rows)


def _bounded(numbers: pd.DataFrame, quantity: str, form) -> str:
    """A number of the literature with its relation.  -> "4,239.54", "< 1", "–"."""
    if quantity not in numbers.index:
        return "–"
    relation = numbers.loc[quantity, "relation"]
    return ("" if relation == "=" else f"{relation} ") + form(numbers.loc[quantity, "reported"])


def _compared_lines(found: Report) -> Iterator[str]:
    """The network and each pattern database at the same λ and N in a sentence."""
    if "compared" not in found.tables:
        return
    shown = found.tables["compared"]
    for name, rows in shown[shown["solver"] == "BWAS"].groupby("set", sort=False):
        first = rows.iloc[0]
        alike = rows[(rows["path_weight"] == first["path_weight"]) & (rows["batch_size"] == first["batch_size"])]
        told = [
            f"`{row['heuristic']}` {percent(row['solved_percent'])} % solved{_length_text(row)},"
            f" {amount(round(row['nodes_generated']))} nodes generated"
            for row in alike.to_dict("records")
        ]
        yield (
            f"- BWAS on the set {name}, λ = {first['path_weight']:g}, N = {first['batch_size']:,.0f}, by heuristic:"
            f" {'; '.join(told)}."
        )


def _beams(found: Report) -> Iterator[str]:
    yield "## Beam search\n"
    if "beams" not in found.tables:
        yield found.missing("Beam search")
        return
    columns = {
        "set": ("set", str),
        "width": ("width", amount),
        "images": ("images", amount),
        "average": ("averaged over", amount),
        **found.solved,
        **AGAINST_OPTIMA,
        "nodes_expanded": ("nodes expanded", amount),
    }
    yield frame_table(_with_lengths(found.tables["beams"]), MODEL | columns)
    puzzle = make(found.results.puzzle)
    kinds = {"symmetric": puzzle.symmetries, "inverse": puzzle.inverse_states}
    images = " and ".join(kind for kind, ability in kinds.items() if ability)
    if images:
        yield (
            f"Beams start from so many *images* of a {found.noun}, {images}; the shortest solution counts. The"
            " cost-to-go may be averaged over symmetric images of each state.\n"
        )
    yield from found.drawn("beam_lengths")


def _prefixes(found: Report) -> Iterator[str]:
    if "prefixes" not in found.tables:
        return
    shown = found.tables["prefixes"]
    yield f"## The sequence of distance {shown['distance'].max():.0f}\n"
    yield (
        "The first 1, 2, … moves of a shortest path, whose states are as far from the goal as there are moves (thesis,"
        " 5.9).\n"
    )
    yield from found.drawn("prefix_lengths")
    columns = {
        "width": ("width", amount),
        "distance": ("distance, moves", short),
        "cost": ("length found, moves", amount),
        "excess": ("too many", amount),
        "nodes_expanded": ("nodes expanded", amount),
    }
    yield frame_table(shown, MODEL | columns)


def _external(found: Report) -> Iterator[str]:
    yield f"## External {found.noun}s\n"
    if found.asked.external is None:
        yield "The study asks for none.\n"
        return
    if "external" not in found.tables:
        yield found.missing(f"The external {found.noun}s", "-external")
        return
    yield (
        f"The first {found.noun}s of `{found.asked.external.file}`, scrambled by others (from DeepCubeA's test set) and"
        " never trained or tuned on; what a search finds in the seconds allowed depends on the machine.\n"
    )
    external = _with_lengths(found.tables["external"])
    external["optimal"] = [_optimal_text(row) for row in external.to_dict("records")]
    budgets = [found.asked.external.budget(seconds) for seconds in external["seconds_allowed"]]
    external["solver"] = [budget.searched.partition(" for ")[0].partition(", at most")[0] for budget in budgets]
    allowed = {"seconds_allowed": ("seconds each, at most", short)}
    several = {"solver": ("solver", str)} if (external["solver"] != "beams").any() else {}
    columns = {
        **several,
        **allowed,
        "first": ("first", amount),
        "solved_percent": ("solved, %", percent),
        "lengths": ("mean length, moves [95 % interval]", str),
        "optimal_length": ("optimum, moves", places(2)),
        "optimal": ("fewest moves, % [95 % interval]", str),
        "admissible_percent": ("admissible, %", percent),
    }
    if external["optimal_length"].isna().any():
        columns = {name: column for name, column in columns.items() if name not in AGAINST_THE_OPTIMUM}
    yield frame_table(external, MODEL | columns)
    if "external_excess" in found.tables:
        counted = f"{found.noun}s"
        columns = {"excess": ("moves too many", short), counted: (counted, amount), "percent": ("share, %", percent)}
        columns = allowed | columns
        yield frame_table(found.tables["external_excess"], MODEL | columns)
    yield from found.drawn("external_excess")


def _patterns(found: Report) -> Iterator[str]:
    if make(found.results.puzzle).turns is None:
        return
    yield "## Patterns of the solutions\n"
    if "triplets" not in found.tables:
        ran = {"beams", "external"} & set(found.tables)
        yield (
            f"No scrambled {found.noun} was solved.\n"
            if ran
            else found.missing("The searches whose solutions are counted")
        )
        return
    columns = {
        "searches": ("solutions of", str),
        "solutions": ("solutions", amount),
        "conjugate_triplet_percent": ("a b a⁻¹, %", percent),
        "aba_triplet_percent": ("a b a, %", percent),
        "aab_triplet_percent": ("a a b, %", percent),
        "abb_triplet_percent": ("a b b, %", percent),
    }
    yield "Shares of three moves in a row (DeepCubeA, Methods):\n"
    yield frame_table(found.tables["triplets"], MODEL | columns)
    if "mirrored" in found.tables:
        columns = {
            "width": ("width", amount),
            "pairs": ("pairs", amount),
            "symmetric_solution_percent": ("solved by the mirror image of the other's solution, %", percent),
            "asymmetric": ("other pairs", amount),
            "same_length_percent": ("as long, % of those", percent),
        }
        yield f"{found.noun.capitalize()}s and their mirror images, both solved by beam search:\n"
        yield frame_table(found.tables["mirrored"], MODEL | columns)
