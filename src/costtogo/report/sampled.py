"""The report's chapter on a puzzle whose states are sampled, not listed: what each of its templates is filled in with.

A section is a template, empty where the study does not ask for what it is about. It gets its values from the chapter.
"""

import fnmatch
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import pandas as pd

from costtogo.analysis.intervals import weighted_means, wilson
from costtogo.analysis.numbers import amount, percent, places, short
from costtogo.literature.answers.sampled_searches import is_scrambled, trees_in_short
from costtogo.literature.answers.trees import is_of_turns
from costtogo.literature.comparison import compare_all
from costtogo.literature.reported import DOCUMENTS, NETWORKS, numbers_of
from costtogo.params.searches import AnytimeParams
from costtogo.puzzles import make, noun, title
from costtogo.report.beside import documents, documents_differences, explanations, numbers_table, related
from costtogo.report.figures import Figures
from costtogo.report.markdown import code, table
from costtogo.report.pages import FOLDER, Page
from costtogo.report.render import items, render
from costtogo.report.several_seeds import seeds_table
from costtogo.report.trainings import training_table
from costtogo.tables.results import StudyResults, Tables, alike
from costtogo.tables.searches import beams_text, best_cell, shortest_path_sets, speeds
from costtogo.tables.searches import compared as solvers
from costtogo.tables.side_by_side import side_by_side
from costtogo.tables.timings import of_settings

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
SUMMARY = ("key_numbers", "method")  # sections of the first page
SECTIONS = (  # of the puzzle's own
    *("sampled", "exact", "training", "seeds", "budgets", "sampled_audit"),
    *("grid", "heuristics", "beams", "prefixes", "searched", "side_by_side", "external", "patterns"),
)


@dataclass(frozen=True)
class Chapter:
    """What sections ask: of the results on one puzzle, and of the tables of the report by the stem of their files.

    comparison: the literature's numbers on the puzzle with ours.  drawn: gives the figures of some kinds as Markdown.
    """

    results: StudyResults
    tables: Tables
    comparison: pd.DataFrame
    drawn: Callable[..., str]

    def headline_first(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Rows of models, those of the study's headline model first."""
        return rows.sort_values("model", key=lambda names: names != self.results.asked.headline, kind="stable")

    def text(self, sections: Iterable[str]) -> str:
        """Some sections, one after the other."""
        results, puzzle = self.results, make(self.results.puzzle)
        models = [results.model(name) for name in results.model_names]
        common = {"study": results.study, "asked": results.asked, "puzzle": puzzle, "noun": noun(results.puzzle)}
        common |= {"title": title(results.puzzle), "models": models}
        common |= {"seeds_table": seeds_table, "chapter": self, "tables": self.tables, "drawn": self.drawn}
        return "\n".join(filter(None, [render(name, **common) for name in sections]))

    def heading(self) -> str:
        """What the page of the puzzle is called."""
        return heading(self.results)

    def further(self) -> str:
        """What is asked of a puzzle whose networks are audited and searched with on every state, too."""
        asked = self.results.asked
        called_for = {"exact": asked.optima, "heuristics": asked.baselines, "beams": asked.beams}
        called_for |= {
            "prefixes": asked.beams,
            "external": asked.external,
            "side_by_side": "side_by_side" in self.tables,
        }
        called_for |= {"searched": asked.by_group and "side_by_side" not in self.tables}
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

    def ran(self, *tables: str) -> list[str]:
        """Those of some tables whose stages have run.  "searches/<model>/grid" is of any model."""
        stages = {table: re.sub("<.*?>", "*", "/".join(table.split("/")[:2])) for table in tables}
        return [table for table, stage in stages.items() if fnmatch.filter(self.results.stages, stage)]

    def grids(self, *groups: str) -> list[str]:
        """Those of some groups of searches that have run, as tables of each model."""
        return self.ran(*(f"{group}/<model>/grid" for group in groups))

    def trees(self) -> list[dict[str, Any] | None]:
        """What trees of the headline model found: of scrambled states, and of less scrambled ones."""
        return [trees_in_short(self.results, of) for of in (is_scrambled, is_of_turns)]

    def longest_budget(self) -> pd.DataFrame:
        """The rows of external with the most seconds, of these with the most instances; one a model."""
        order = ["seconds_allowed", "first"]
        longest = self.external.sort_values(order, kind="stable").groupby("model", sort=False).tail(1)
        return self._with_runs("external", self.headline_first(longest))

    def widest_beams(self) -> pd.DataFrame:
        """The widest beams of each model, on a set of scrambled states where there is one."""
        beams = self.tables["beams"]
        scrambled = ~beams["set"].isin(shortest_path_sets(self.results))
        own = beams[scrambled] if scrambled.any() else beams
        widest = self.headline_first(own.loc[own.groupby("model", sort=False)["width"].idxmax()])
        widest = _with_interval(widest)
        widest = self._with_runs("beams", widest)
        return widest.assign(how=[beams_text(self.results, row.set, row.width) for row in widest.itertuples()])

    def best_by_solver(self) -> pd.DataFrame:
        """Of each model the search that solves most of the first scrambled set, of those the one with the shortest
        solutions; of the first set where none is scrambled."""
        found = self.tables["side_by_side"]
        first = max(found["set"].unique(), key=partial(is_scrambled, self.results))
        order = found[found["set"] == first].sort_values(
            ["solved_percent", "length"], ascending=[False, True], kind="stable"
        )
        return self.headline_first(order.groupby("model", sort=False).head(1))

    def rivals(self) -> pd.DataFrame:
        """A row a model, the best first: of external instances, else of trees or the best solver, of the widest beams,
        of the grid; of the first of them that has most models."""
        ways = {"external": self.longest_budget, "side_by_side": self.best_by_solver}
        ways |= {"beams": self.widest_beams, "grid": self.best_cells}
        found = [rows for name, way in ways.items() if name in self.tables and len(rows := way())]
        found = [rows[rows["set"] == rows["set"].iloc[0]] if "set" in rows else rows for rows in found]
        rows = max(found, key=lambda rows: rows["model"].nunique(), default=pd.DataFrame())
        return rows.sort_values(["solved_percent", "length"], ascending=[False, True]) if len(rows) else rows

    def trainings_compared(self) -> pd.DataFrame:
        """Mean length of each recipe over its trainings, of the searches within most seconds where there are such.

        As the table of seeds has it, with solved_percent.
        """
        found = self.tables["seeds"]
        timed = found[found["searches"].str.startswith(AnytimeParams.words)]
        rows = timed if len(timed) else found
        rows = rows[rows["searches"] == rows["searches"].iloc[-1]]
        solved = rows[rows["measure"] == "solved_percent"].set_index("variant")["mean"]
        lengths = rows[rows["measure"] == "length"]
        return lengths.assign(solved_percent=lengths["variant"].map(solved))

    def best_cells(self) -> pd.DataFrame:
        """The best λ and N of each model on each set."""
        cells = [best_cell(own) for _, own in self.tables["grid"].groupby(["set", "model"], sort=False)]
        return self._with_runs("searches", _with_interval(self.headline_first(pd.DataFrame(cells))))

    def _with_runs(self, group: str, rows: pd.DataFrame) -> pd.DataFrame:
        """Rows of models with the key of the run of each; group: of the stage that measured them."""
        return rows.assign(run=[self.results.run(f"{group}/{model}") for model in rows["model"]])

    def beside_database(self) -> Iterator[tuple[Values, Values]]:
        """On each set the network and the best baseline at the network's best λ and N."""
        shown = self.tables["compared"]
        for _, rows in shown[shown["solver"] == "BWAS"].groupby("set", sort=False):
            own = rows[rows["heuristic"] == self.results.headline_model]
            others = alike(rows[~rows["learned"]], own.iloc[0], "path_weight", "batch_size") if len(own) else own
            if len(others):
                yield own.iloc[0].to_dict(), best_cell(others).to_dict()

    def beginnings(self) -> pd.DataFrame:
        """Up to which distance every beginning of a sequence is solved with the fewest moves, and the whole."""
        found = []
        for (_, name, width), group in self.tables["prefixes"].groupby(["model", "set", "width"], sort=False):
            group = group.sort_values("distance")
            shortest = group["excess"] == 0
            unbroken = group["distance"][shortest.cummin()].max() if shortest.iloc[0] else 0.0
            counts = {"unbroken": unbroken, "shortest": shortest.sum(), "count": len(group)}
            found.append({**group.iloc[-1], "how": beams_text(self.results, name, width), **counts})
        return self.headline_first(pd.DataFrame(found))

    def last_checkpoint(self, name: str) -> pd.DataFrame:
        """The rows of a table of the audit at the last checkpoint of each model."""
        found = self.tables[name]
        return found[found["iteration"] == found.groupby("model")["iteration"].transform("max")]

    def near_the_goal(self) -> dict[str, Any]:
        """What the audit of the headline model found on states of known distance, and on walks."""
        consistency = self.last_checkpoint("consistency").set_index("model")["consistent_percent"]
        found = self.over_distances("nearby")
        row = found[found["model"] == self.results.headline_model].iloc[0].to_dict()
        return row | {"consistent_percent": consistency.get(self.results.headline_model, float("nan"))}

    def walked_greedily(self) -> pd.DataFrame:
        """Shares solved by greedy search with the last checkpoint of that model, the shortest walks first."""
        found = self.last_checkpoint("greedy")
        return found[found["model"] == self.results.headline_model].sort_values("depth")

    def networks_beside(self) -> str:
        """Our numbers with those of each network of the literature, a row for each quantity.

        Ours is the one found for a number of theirs, first of all of the network's own document. If there is none, it
        is that of the headline model in the table of external instances.
        """
        comparison = self.comparison[self.comparison["distance"].isna()]
        told = {model: numbers_of(comparison, model) for model in NETWORKS}
        told = {model: numbers for model, numbers in told.items() if len(numbers)}
        external = self.longest_budget().iloc[0] if "external" in self.tables else {}
        rows = []
        for heading, quantities in KEY_QUANTITIES.items():
            alike = [numbers[numbers["quantity"].isin(quantities)] for numbers in told.values()]
            ours = [value for numbers in alike for value in numbers["reproduced"].dropna().tolist()]
            if pd.notna(external.get(quantities[0])):
                ours.append(external[quantities[0]])
            theirs = [amount(numbers["reported"].iloc[0]) if len(numbers) else "–" for numbers in alike]
            rows.append([heading, amount(ours[0]) if ours else "–", *theirs])
        return table(["", "this study", *(DOCUMENTS[NETWORKS[model]] for model in told)], rows)

    @cached_property
    def trained(self) -> dict[str, Any]:
        """The parameters of the trainings that are finished, by model."""
        return {name: self.results.model(name) for name in self.results.trained}

    def trainings(self) -> str:
        """The parameters that differ between these trainings, and what came out."""
        return training_table(self.results)

    def nearly_exact(self) -> bool:
        """Whether some network that overestimates nearby states is hardly off at any distance."""
        worst = self.tables["nearby"].groupby("model").agg({"mean_absolute_error": "max", "admissible_percent": "min"})
        return ((worst["mean_absolute_error"] < SLIGHT) & (worst["admissible_percent"] < 100)).any()

    def over_distances(self, name: str, *by: str) -> pd.DataFrame:
        """The means of a table of the audit over all distances, of each model; by: columns that part them, too."""
        found, keys = self.tables[name], ["model", *by]
        groups = found.groupby(keys, sort=False)
        pooled = weighted_means(found, keys, POOLED)
        most = {"overestimation_max": groups["overestimation_max"].max(), "farthest": groups["distance"].max()}
        return pooled.assign(**most).reset_index()

    def solvers_beside(self) -> str:
        """What the literature reports of its own solvers in the same quantities, on its own machines and instances."""
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


def _with_interval(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of searches with the interval of the share of known distance that is solved with the fewest moves."""
    shares = [wilson(row.known * row.optimal_percent / 100, row.known) for row in rows.fillna(0).itertuples()]
    return rows.assign(optimal_low=[100 * low for low, _ in shares], optimal_high=[100 * high for _, high in shares])


compared = compare_all  # the literature's numbers with ours; where results are timed, wall-clock times alone


LABELS = {"presses": "by labels, the presses of random boards", "imitation": "by labels, exact distances"}


def heading(results: StudyResults) -> str:
    """What the report of a study of one such puzzle is called."""
    above = any(results.model(name).architecture.above for name in results.model_names)
    since = "above a lower bound" if above else "from nothing"
    since = LABELS.get(results.model(results.headline_model).trainer, since)
    return f"{title(results.puzzle)}, learned {since}"


def _chapter(
    results: StudyResults, by_puzzle: dict[str, Tables], comparison: pd.DataFrame, figures: Figures | None = None
) -> Chapter:
    """A chapter on the one puzzle of some results; without figures it draws none."""
    drawn = figures.of(results.puzzle) if figures else lambda *kinds: ""
    return Chapter(results, by_puzzle[results.puzzle], comparison, drawn)


def findings(results: StudyResults, by_puzzle: dict[str, Tables], comparison: pd.DataFrame) -> list[list[str]]:
    """What the study's headline model solves, how well, and compared with pattern databases."""
    return [items(_chapter(results, by_puzzle, comparison).text(["findings_sampled"]))]


def summary(results: StudyResults, by_puzzle: dict[str, Tables], comparison: pd.DataFrame) -> str:
    """The key numbers of each model with the literature's, and what was done."""
    return _chapter(results, by_puzzle, comparison).text(SUMMARY)


def pages(
    results: StudyResults, by_puzzle: dict[str, Tables], comparison: pd.DataFrame, figures: Figures
) -> Iterator[Page]:
    """The one of the puzzle."""
    yield Page(results.puzzle, "sampled", _chapter(results, by_puzzle, comparison, figures).text(SECTIONS))


def literature(results: StudyResults, comparison: pd.DataFrame) -> str:
    """The literature's numbers with ours."""
    return documents(comparison, title(results.puzzle))


def differences(results: StudyResults, comparison: pd.DataFrame) -> str:
    """Where ours is worse than the literature, and its slips."""
    return documents_differences(comparison, title(results.puzzle), **explanations(results))


def timings(results: StudyResults, comparison: pd.DataFrame, figures: Figures) -> str:
    """The wall-clock times of the searches, the literature's with ours, and every figure that shows time."""
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
        page=f"{FOLDER}/{results.puzzle}.md",
        searches=of_settings(results),
        solvers=side_by_side(results),
        speeds=speeds(results, solvers(results)).round({"nodes_per_second": 0}),
        children=results.find_frame(f"timings/footprints/{results.puzzle}"),
        databases=pd.DataFrame(databases),
        comparison=numbers_table(covered) if len(covered) else "",
        figures="\n".join(figures.gallery([entry]) for entry in figures.timed([results.puzzle])),
    )
