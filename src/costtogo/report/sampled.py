"""The report's chapter on a puzzle whose states are sampled, not listed: what each of its templates is filled in with.

A section is a function of the chapter that returns the values of the template of its name, beside those that all have;
None where the study does not ask for what it is about.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from costtogo.analysis.intervals import weighted_means
from costtogo.analysis.literature import DOCUMENTS, NETWORKS, numbers_of
from costtogo.params.training import ModelParams
from costtogo.puzzles import make, noun, title
from costtogo.report.figures import Figures
from costtogo.report.literature import documents, documents_table, explanations, related
from costtogo.report.markdown import amount, code, percent, places, short, table
from costtogo.report.render import render
from costtogo.report.results import StudyResults, Tables
from costtogo.report.search_tables import SEARCH_TABLES, beams_text, shortest_path_sets, speeds
from costtogo.report.search_tables import compared as solvers
from costtogo.report.timings import of_settings
from costtogo.report.trainings import training_table
from costtogo.report.verdicts import ALONE, compare_all, project

SLIGHT = 0.005  # moves of mean error at every distance, of a network that is nearly exact
POOLED = ["distance", "mean_cost_to_go", "mean_absolute_error", "admissible_percent"]
SOLVER_QUANTITIES = {  # of the literature, beside our table of solvers
    "length": ("mean length, moves", places(2)),
    "optimal_percent": ("fewest moves, %", percent),
    "nodes_generated": ("nodes generated", amount),
    "seconds": ("seconds", short),
    "nodes_per_second": ("nodes a second", amount),
}
KEY_QUANTITIES = {  # rows of the key results, and the literature's quantity in each
    "solved, %": ("solved_percent", "states_solved"),
    "mean length, moves": ("length",),
    "shortest solutions, %": ("optimal_percent",),
    "states seen in training": ("states_seen",),
    "iterations of training": ("total_iterations",),
}
Values = dict[str, Any]
Section = Callable[["Chapter"], Values | None]


@dataclass(frozen=True)
class Chapter:
    """What every section reads: the results on one puzzle, the tables of the report by the stem of their files.

    comparison: the literature's numbers on the puzzle beside ours.  drawn: gives the figures of some kinds as Markdown.
    """

    results: StudyResults
    tables: Tables
    comparison: pd.DataFrame
    drawn: Callable[..., str]

    @cached_property
    def trainings(self) -> dict[str, Any]:
        """The parameters of each model's training."""
        return {name: self.results.model(name) for name in self.results.model_names}

    @property
    def above(self) -> list[str]:
        """The models that learn what is missing from a lower bound."""
        return [name for name, model in self.trainings.items() if model.architecture.above]

    def headline_first(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Rows of models, those of the one that stands for the study before the others."""
        return rows.sort_values("model", key=lambda names: names != self.results.asked.headline, kind="stable")

    def text(self, sections: Iterable[Section]) -> str:
        """Some sections, one after the other."""
        results = self.results
        common = {"study": results.study, "noun": noun(results.puzzle), "tables": self.tables, "drawn": self.drawn}
        found = {section: section(self) for section in sections}
        return "\n".join(
            render(section.__name__, **common, **values) for section, values in found.items() if values is not None
        )

    def further(self) -> str:
        """What is asked of a puzzle whose networks are audited and searched with on every state, too."""
        asked = self.results.asked
        called_for = {exact: asked.optima, heuristics: asked.baselines, beams: asked.beams, prefixes: asked.beams}
        called_for |= {searched: asked.by_group}
        called_for |= {external: asked.external, patterns: asked.beams or asked.external}
        return self.text(section for section, questions in called_for.items() if questions)


def heading(results: StudyResults) -> str:
    """What the report of a study of one such puzzle is called."""
    above = any(results.model(name).architecture.above for name in results.model_names)
    since = "above Manhattan distance" if above else "from nothing"
    return f"{title(results.puzzle)}, learned {since}"


def compared(results: StudyResults) -> pd.DataFrame:
    """The literature's numbers on the puzzle beside ours; where results are timed, those that a clock tells."""
    return project(compare_all(results), ALONE)


def text(results: StudyResults, by_puzzle: dict[str, Tables], comparison: pd.DataFrame, figures: Figures) -> str:
    """All sections, and the literature.  by_puzzle: the tables of each puzzle.  comparison: as compared returns it."""
    chapter = Chapter(results, by_puzzle[results.puzzle], comparison, figures.of(results.puzzle))
    return "\n".join([chapter.text(SECTIONS), documents(comparison, **explanations(results))])


def timings(results: StudyResults, comparison: pd.DataFrame, figures: Figures) -> str:
    """The wall-clock times of the searches, the literature's beside ours, and every figure that shows time."""
    cards = {name: results.find_card(f"pattern_databases/{name}") for name in results.asked.pattern_databases}
    clocks = {name: card["timing"] for name, card in cards.items() if "timing" in card}
    databases = [
        {"database": name, "seconds": clock["parts"].get("backward search"),
         "peak_memory": clock.get("peak_memory_bytes", 0) // 10**6}
        for name, clock in clocks.items()
    ]  # fmt: skip
    covered = comparison[comparison["reproduced"].notna()]
    return render(
        "sampled_timings",
        searches=of_settings(results),
        speeds=speeds(results, solvers(results)).round({"nodes_per_second": 0}),
        children=results.find(f"timings/footprints/{results.puzzle}"),
        databases=pd.DataFrame(databases),
        comparison=documents_table(covered) if len(covered) else "",
        figures="\n".join(figures.gallery([entry]) for entry in figures.timed([results.puzzle])),
    )


def key_results(found: Chapter) -> Values:
    """What was solved, in a line for each model and kind of search, and the literature's networks beside ours."""
    external, beams = found.tables.get("external"), found.tables.get("beams")
    return {
        "file": found.results.asked.external and found.results.asked.external.file,
        "external": [] if external is None else _budgets_in_words(found, found.headline_first(external)),
        "beams": [] if beams is None else _widest_beams(found, beams),
        "compared": list(_at_the_same_cell(found)),
        "prefixes": list(_beginnings(found)),
        "literature": _networks_beside(found.comparison) if len(found.comparison) else None,
    }


def _budgets_in_words(found: Chapter, external: pd.DataFrame) -> list[Values]:
    budgets = [found.results.asked.external.budget(seconds) for seconds in external["seconds_allowed"]]
    how = [f"at most {each.seconds:g} s each" if each.solver == "beam" else each.searched for each in budgets]
    return _with_intervals(external).assign(how=how).to_dict("records")


def _with_intervals(external: pd.DataFrame) -> pd.DataFrame:
    names = {f"optimal_percent_{end}": f"optimal_{end}" for end in ("low", "high")}
    return external.rename(columns=names)


def _widest_beams(found: Chapter, beams: pd.DataFrame) -> list[Values]:
    """The widest beams of each model, on a set of scrambled states where there is one."""
    scrambled = ~beams["set"].isin(shortest_path_sets(found.results))
    own = beams[scrambled] if scrambled.any() else beams
    widest = found.headline_first(own.loc[own.groupby("model", sort=False)["width"].idxmax()])
    how = [beams_text(found.results, row.set, row.width) for row in widest.itertuples()]
    return widest.assign(how=how).to_dict("records")


def _at_the_same_cell(found: Chapter):
    """The network and each pattern database at the same λ and N, for each set."""
    if "compared" not in found.tables:
        return
    shown = found.tables["compared"]
    for _, rows in shown[shown["solver"] == "BWAS"].groupby("set", sort=False):
        cell = rows[["path_weight", "batch_size"]]
        yield rows[(cell == cell.iloc[0]).all(axis=1)].to_dict("records")


def _beginnings(found: Chapter):
    """Up to which distance every beginning of a sequence is solved with the fewest moves, and the whole."""
    if "prefixes" not in found.tables:
        return
    for (model, name, width), group in found.tables["prefixes"].groupby(["model", "set", "width"], sort=False):
        group = group.sort_values("distance")
        shortest = group["excess"] == 0
        unbroken = group["distance"][shortest.cummin()].max() if shortest.iloc[0] else 0.0
        how = beams_text(found.results, name, width)
        counts = {"unbroken": unbroken, "shortest": shortest.sum(), "count": len(group)}
        yield {**group.iloc[-1], "model": model, "set": name, "how": how, **counts}


def _networks_beside(comparison: pd.DataFrame) -> str:
    """Ours beside each of the literature's networks, one row a quantity; a network's own document comes first."""
    told = {model: numbers_of(comparison[comparison["distance"].isna()], model) for model in NETWORKS}
    told = {model: numbers for model, numbers in told.items() if len(numbers)}
    rows = []
    for heading, quantities in KEY_QUANTITIES.items():
        alike = [numbers[numbers["quantity"].isin(quantities)] for numbers in told.values()]
        ours = [value for numbers in alike for value in numbers["reproduced"].dropna().tolist()[:1]]
        theirs = [amount(numbers["reported"].iloc[0]) if len(numbers) else "–" for numbers in alike]
        rows.append([heading, amount(ours[0]) if ours else "–", *theirs])
    return table(["", "this study", *(DOCUMENTS[NETWORKS[model]] for model in told)], rows)


def method(found: Chapter) -> Values:
    """How the networks were trained."""
    return {"depth": found.results.asked.nearby_depth, "above": found.above, **trained(found.trainings.values())}


def trained(models: Collection[ModelParams]) -> Values:
    """What the templates of trainers are filled in with."""
    greedy_share = max(model.sampler.greedy_share for model in models)
    return {"trainers": sorted({model.trainer for model in models}), "greedy_percent": 100 * greedy_share}


def exact(found: Chapter) -> Values | None:
    """The exact solutions of the study's own instances."""
    asked, solved = found.results.asked, found.tables.get("optima")
    if asked.optima is None:
        return None
    all_solved = solved is None or (solved["solved"] == solved["instances"]).all()
    return {"asked": asked.optima, "additive": bool(asked.pattern_databases), "all_solved": all_solved}


def training(found: Chapter) -> Values:
    """The trainings that are finished."""
    finished = {name: found.trainings[name] for name in found.results.trained}
    return {
        "table": training_table(found.results, list(finished)) if finished else None,
        "walks": any(model.trainer == "random_walk" for model in finished.values()),
        "starts": {name: model.starts_from for name, model in finished.items() if model.starts_from},
    }


def sampled_audit(found: Chapter) -> Values:
    """The networks on states of known distance, on random walks and as the training goes on."""
    nearby, known, progress = (found.tables.get(name) for name in ("nearby", "known", "progress"))
    slight = False
    if nearby is not None:
        worst = nearby.groupby("model").agg({"mean_absolute_error": "max", "admissible_percent": "min"})
        slight = ((worst["mean_absolute_error"] < SLIGHT) & (worst["admissible_percent"] < 100)).any()
    return {
        "nearly_exact": slight,
        "walks": any(model.trainer == "random_walk" for model in found.trainings.values()),
        "known": None if known is None else _pooled(known),
        "progress": found.results.asked.audit.progress,
        "optima_known": progress is not None and progress["known"].any(),
    }


def _pooled(known: pd.DataFrame) -> pd.DataFrame:
    """The means over all distances of each model's states of a set."""
    means = weighted_means(known, ["model", "set"], POOLED)
    most = known.groupby(["model", "set"], sort=False)["overestimation_max"].max()
    return means.assign(overestimation_max=most).reset_index()


def grid(found: Chapter) -> Values:
    """BWAS over λ and N."""
    cells = found.tables.get("grid")
    return {"searches": found.results.asked.grids, "optima_known": cells is not None and cells["known"].any()}


def heuristics(found: Chapter) -> Values | None:
    """BWAS over networks, pattern databases and the Manhattan distance, and IDA*, on the same instances."""
    if not found.results.asked.baselines:
        return None
    return {"literature": _literature_solvers(found.comparison)}


def _literature_solvers(comparison: pd.DataFrame) -> str | None:
    """What the literature tells of its own solvers in the same quantities, on its own machines and instances."""
    told = comparison[comparison["quantity"].isin(SOLVER_QUANTITIES) & comparison["distance"].isna()]
    rows = []
    for (source, model), group in told.groupby(["source", "model"], sort=False):
        numbers = group.drop_duplicates("quantity").set_index("quantity")
        if set(numbers.index) & {"seconds", "nodes_generated"}:
            told_of = {name: related(numbers.loc[name], SOLVER_QUANTITIES[name][1]) for name in numbers.index}
            cells = [told_of.get(name, "–") for name in SOLVER_QUANTITIES]
            rows.append([code(model), DOCUMENTS[source], *cells])
    headings = [heading for heading, _ in SOLVER_QUANTITIES.values()]
    return table(["solver", "document", *headings], rows) if rows else None


def beams(found: Chapter) -> Values:
    """Beam search by width."""
    puzzle = make(found.results.puzzle)
    kinds = {"symmetric": puzzle.symmetries, "inverse": puzzle.inverse_states}
    return {"images": [kind for kind, ability in kinds.items() if ability]}


def searched(found: Chapter) -> Values | None:
    """The kinds of search that have no section of their own."""
    others = found.results.asked.by_group.items()
    kinds = {group: searches[0] for group, searches in others if group not in SEARCH_TABLES}
    return {"kinds": kinds} if kinds else None


def prefixes(found: Chapter) -> Values | None:
    """The beginnings of a shortest path."""
    return {} if "prefixes" in found.tables else None


def external(found: Chapter) -> Values:
    """The instances of others."""
    rows, asked = found.tables.get("external"), found.results.asked.external
    values = {"file": asked and asked.file}
    if rows is None:
        return values
    budgets = [asked.budget(seconds) for seconds in rows["seconds_allowed"]]
    solvers = [budget.searched.partition(" for ")[0].partition(", at most")[0] for budget in budgets]
    known = {"optima_known": rows["optimal_length"].notna().all(), "several_solvers": set(solvers) != {"beams"}}
    return values | known | {"external": _with_intervals(rows).assign(solver=solvers)}


def patterns(found: Chapter) -> Values | None:
    """The patterns of moves in solutions, of a puzzle whose moves are turns alone."""
    return None if make(found.results.puzzle).turns is None else {}


SECTIONS = (
    *(key_results, method, exact, training, sampled_audit),
    *(grid, heuristics, beams, prefixes, searched, external, patterns),
)
