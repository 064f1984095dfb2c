"""The report's chapter on a puzzle whose states are sampled, not listed: what each of its templates is filled in with.

A section is a template, empty where the study does not ask for what it is about. It asks the chapter for what it tells.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from costtogo.analysis.intervals import weighted_means
from costtogo.analysis.literature import DOCUMENTS, NETWORKS, numbers_of
from costtogo.puzzles import make, noun, title
from costtogo.report.comparison import compare_all
from costtogo.report.figures import Figures
from costtogo.report.literature import documents, documents_table, explanations, related
from costtogo.report.markdown import amount, code, percent, places, short, table
from costtogo.report.render import render
from costtogo.report.results import StudyResults, Tables
from costtogo.report.search_tables import beams_text, shortest_path_sets, speeds
from costtogo.report.search_tables import compared as solvers
from costtogo.report.timings import of_settings
from costtogo.report.trainings import training_table

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
SECTIONS = (
    *("key_results", "method", "exact", "training", "sampled_audit"),
    *("grid", "heuristics", "beams", "prefixes", "searched", "external", "patterns"),
)


@dataclass(frozen=True)
class Chapter:
    """What sections ask: of the results on one puzzle, and of the tables of the report by the stem of their files.

    comparison: the literature's numbers on the puzzle beside ours.  drawn: gives the figures of some kinds as Markdown.
    """

    results: StudyResults
    tables: Tables
    comparison: pd.DataFrame
    drawn: Callable[..., str]

    def headline_first(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Rows of models, those of the one that stands for the study before the others."""
        return rows.sort_values("model", key=lambda names: names != self.results.asked.headline, kind="stable")

    def text(self, sections: Iterable[str]) -> str:
        """Some sections, one after the other."""
        results, puzzle = self.results, make(self.results.puzzle)
        models = [results.model(name) for name in results.model_names]
        common = {"study": results.study, "asked": results.asked, "puzzle": puzzle, "noun": noun(results.puzzle)}
        common |= {"chapter": self, "models": models, "tables": self.tables, "drawn": self.drawn}
        return "\n".join(filter(None, [render(name, **common) for name in sections]))

    def further(self) -> str:
        """What is asked of a puzzle whose networks are audited and searched with on every state, too."""
        asked = self.results.asked
        called_for = {"exact": asked.optima, "heuristics": asked.baselines, "beams": asked.beams}
        called_for |= {"prefixes": asked.beams, "searched": asked.by_group, "external": asked.external}
        called_for |= {"patterns": asked.beams or asked.external}
        return self.text(name for name, questions in called_for.items() if questions)

    @cached_property
    def external(self) -> pd.DataFrame:
        """The table of external instances, by which solver and how they were searched under each budget."""
        found = self.tables["external"]
        budgets = [self.results.asked.external.budget(seconds) for seconds in found["seconds_allowed"]]
        how = [f"at most {each.seconds:g} s each" if each.solver == "beam" else each.searched for each in budgets]
        solvers = [each.searched.partition(" for ")[0].partition(", at most")[0] for each in budgets]
        intervals = {f"optimal_percent_{end}": f"optimal_{end}" for end in ("low", "high")}
        return found.rename(columns=intervals).assign(how=how, solver=solvers)

    def budgets(self) -> list[Values]:
        """The rows of external."""
        return self.headline_first(self.external).to_dict("records")

    def widest_beams(self) -> list[Values]:
        """The widest beams of each model, on a set of scrambled states where there is one."""
        beams = self.tables["beams"]
        scrambled = ~beams["set"].isin(shortest_path_sets(self.results))
        own = beams[scrambled] if scrambled.any() else beams
        widest = self.headline_first(own.loc[own.groupby("model", sort=False)["width"].idxmax()])
        how = [beams_text(self.results, row.set, row.width) for row in widest.itertuples()]
        return widest.assign(how=how).to_dict("records")

    def at_the_same_cell(self) -> Iterator[list[Values]]:
        """The network and each pattern database at the same λ and N, for each set."""
        shown = self.tables["compared"]
        for _, rows in shown[shown["solver"] == "BWAS"].groupby("set", sort=False):
            cell = rows[["path_weight", "batch_size"]]
            yield rows[(cell == cell.iloc[0]).all(axis=1)].to_dict("records")

    def beginnings(self) -> Iterator[Values]:
        """Up to which distance every beginning of a sequence is solved with the fewest moves, and the whole."""
        for (_, name, width), group in self.tables["prefixes"].groupby(["model", "set", "width"], sort=False):
            group = group.sort_values("distance")
            shortest = group["excess"] == 0
            unbroken = group["distance"][shortest.cummin()].max() if shortest.iloc[0] else 0.0
            counts = {"unbroken": unbroken, "shortest": shortest.sum(), "count": len(group)}
            yield {**group.iloc[-1], "how": beams_text(self.results, name, width), **counts}

    def networks_beside(self) -> str:
        """Ours beside each of the literature's networks, one row a quantity; a network's own document comes first."""
        comparison = self.comparison[self.comparison["distance"].isna()]
        told = {model: numbers_of(comparison, model) for model in NETWORKS}
        told = {model: numbers for model, numbers in told.items() if len(numbers)}
        rows = []
        for heading, quantities in KEY_QUANTITIES.items():
            alike = [numbers[numbers["quantity"].isin(quantities)] for numbers in told.values()]
            ours = [value for numbers in alike for value in numbers["reproduced"].dropna().tolist()[:1]]
            theirs = [amount(numbers["reported"].iloc[0]) if len(numbers) else "–" for numbers in alike]
            rows.append([heading, amount(ours[0]) if ours else "–", *theirs])
        return table(["", "this study", *(DOCUMENTS[NETWORKS[model]] for model in told)], rows)

    @cached_property
    def trained(self) -> dict[str, Any]:
        """The parameters of the trainings that are finished, by model."""
        return {name: self.results.model(name) for name in self.results.trained}

    def trainings(self) -> str:
        """Parameters and results of these trainings."""
        return training_table(self.results, list(self.trained))

    def nearly_exact(self) -> bool:
        """Whether some network that overestimates nearby states is hardly off at any distance."""
        worst = self.tables["nearby"].groupby("model").agg({"mean_absolute_error": "max", "admissible_percent": "min"})
        return ((worst["mean_absolute_error"] < SLIGHT) & (worst["admissible_percent"] < 100)).any()

    def known_distances(self) -> pd.DataFrame:
        """The means over all distances of each model's states of a set."""
        known = self.tables["known"]
        most = known.groupby(["model", "set"], sort=False)["overestimation_max"].max()
        return weighted_means(known, ["model", "set"], POOLED).assign(overestimation_max=most).reset_index()

    def solvers_beside(self) -> str:
        """What the literature tells of its own solvers in the same quantities, on its own machines and instances."""
        told = self.comparison[self.comparison["quantity"].isin(SOLVER_QUANTITIES)]
        rows = []
        for (source, model), group in told[told["distance"].isna()].groupby(["source", "model"], sort=False):
            numbers = group.drop_duplicates("quantity").set_index("quantity")
            if set(numbers.index) & {"seconds", "nodes_generated"}:
                told_of = {name: related(numbers.loc[name], SOLVER_QUANTITIES[name][1]) for name in numbers.index}
                cells = [told_of.get(name, "–") for name in SOLVER_QUANTITIES]
                rows.append([code(model), DOCUMENTS[source], *cells])
        headings = [heading for heading, _ in SOLVER_QUANTITIES.values()]
        return table(["solver", "document", *headings], rows) if rows else ""


def heading(results: StudyResults) -> str:
    """What the report of a study of one such puzzle is called."""
    above = any(results.model(name).architecture.above for name in results.model_names)
    since = "above Manhattan distance" if above else "from nothing"
    return f"{title(results.puzzle)}, learned {since}"


def compared(results: StudyResults) -> pd.DataFrame:
    """The literature's numbers on the puzzle beside ours; where results are timed, those that a clock tells."""
    return compare_all(results)


def text(results: StudyResults, by_puzzle: dict[str, Tables], comparison: pd.DataFrame, figures: Figures) -> str:
    """All sections, and the literature.  by_puzzle: the tables of each puzzle.  comparison: as compared returns it."""
    chapter = Chapter(results, by_puzzle[results.puzzle], comparison, figures.of(results.puzzle))
    return "\n".join([chapter.text(SECTIONS), documents(comparison, **explanations(results))])


def timings(results: StudyResults, comparison: pd.DataFrame, figures: Figures) -> str:
    """The wall-clock times of the searches, the literature's beside ours, and every figure that shows time."""
    databases = [
        {
            "database": name,
            "seconds": clock["parts"].get("backward search"),
            "peak_memory": clock.get("peak_memory_bytes", 0) // 10**6,
        }
        for name in results.asked.pattern_databases
        if (clock := results.find_card(f"pattern_databases/{name}").get("timing"))
    ]
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
