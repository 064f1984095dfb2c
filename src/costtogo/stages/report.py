"""Stage: write the report of a study, its tables, its headline numbers and its timings."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd

from costtogo.analysis.documents import documents
from costtogo.analysis.listings import Replay, replay
from costtogo.analysis.literature import read_reported
from costtogo.figures.catalogue import catalogue, kept_of
from costtogo.files import read_csv, write_csv, write_json, write_text
from costtogo.params.study import Study
from costtogo.puzzles import family, make
from costtogo.report import listed as listed_puzzles
from costtogo.report import timings
from costtogo.report.answers import NAN
from costtogo.report.compared import compared, rows_table
from costtogo.report.comparison import TIMES, compare
from costtogo.report.facts import Facts
from costtogo.report.large_compared import compared as compared_documents
from costtogo.report.large_comparison import LARGE_TIMES
from costtogo.report.listed_answers import NETWORK, Listed, as_thesis, compare_listed
from costtogo.report.provenance import kept_text, provenance_text
from costtogo.report.render import gallery, render
from costtogo.report.results import StudyResults
from costtogo.report.tables import headline_numbers, states_per_distance, tables
from costtogo.report.variants import variants_text
from costtogo.stages.figures import remove_figures
from costtogo.stages.leftovers import remove_others
from costtogo.stages.stage_run import StageRun, clocks_of, whole_cards

LISTINGS = {0.7: "hanoi_7_lambda_0.7.csv", 0.3: "hanoi_7_lambda_0.3.csv"}  # thesis 7.4, by path weight
LISTED_PUZZLE = "hanoi_7"


@dataclass(frozen=True)
class Beside:
    """What stands beside a study's results in its report; the defaults are the project's own.

    reported: the literature's numbers and listings.  measured: what longer studies kept.
    captions: the captions of the figures.
    """

    reported: Path = Path("data/reported")
    measured: Path = Path("data/measured")
    captions: Path = Path("workflow/captions")

    @property
    def numbers(self) -> Path:
        """The CSV of the literature's numbers."""
        return self.reported / "thesis.csv"

    @property
    def files(self) -> list[Path]:
        """All of them but the captions."""
        return sorted([*self.reported.glob("**/*.csv"), *self.measured.glob("**/*.[cj]s*")])


def run(params: Path, results: Path, reports: Path) -> None:
    """Write the report of a study; results and reports are the study's folders."""
    beside = Beside()
    cards = whole_cards(results)
    stage = StageRun("report", __name__, params, results / "report" / "report", [*beside.files, *cards])
    study = Study(**stage.parameters)
    numbers = write(study, results.parent, reports.parent, beside)
    remove_figures(reports, catalogue(study))
    kinds = ("report.md", "reported_vs_reproduced.csv", "metrics.json", "tables/*.csv", "figures/*.png")
    outputs = [path for kind in kinds for path in sorted(reports.glob(kind))]
    metrics = {f"{model}.{name}": value for model, part in numbers.items() for name, value in part.items()}
    stage.finish(outputs, metrics, clocks_of(reports))


def write(study, results: Path, reports: Path, beside: Beside) -> dict:
    """Write report.md, metrics.json, timings.md, reported_vs_reproduced.csv, tables/*.csv and timings/*.csv.

    results and reports are the folders that hold one folder a study.  All but timings come out byte-identical
    from the same results.  Returns the headline numbers by model.
    """
    target = reports / study.study
    found = StudyResults(results / study.study, study)
    reported = read_csv(beside.numbers, dtype={"section": str})
    reported = reported[on_these(reported["puzzle"], study.puzzles)]
    facts = gather_facts(found, beside)
    kept = StudyResults.of_kept(beside.measured / "thesis")
    comparison = compare(reported, found, kept, facts)
    others = read_others(found.puzzles, beside)
    answered = compare_listed(others, listed(found, beside, facts))
    written = {target / "tables" / f"{name}.csv": frame for name, frame in tables(found).items()}
    for path, frame in written.items():
        write_csv(path, frame)
    remove_others((target / "tables").glob("*.csv"), written)
    both = [part for part in (comparison, as_thesis(answered)) if len(part)]
    write_csv(target / "reported_vs_reproduced.csv", pd.concat(both) if both else comparison)
    numbers = headline_numbers(found)
    write_json(target / "metrics.json", numbers)
    shown = list(found.models)
    sections = [f"# Learned cost-to-go, reproduced: the study `{found.study}`\n", listed_puzzles.summary(found, shown)]
    drawn = pictures(found, beside)
    sections += [listed_puzzles.chapter(found.of(puzzle), partial(drawn, puzzle)) for puzzle in shown]
    sections += [compared(comparison, facts.listings)] if len(comparison) else []
    sections += ["\n".join(compared_documents(answered, {}, "The final-year report"))] if len(answered) else []
    sections += (
        []
        if both
        else ["## Reported and reproduced\n\nThe literature in data/reported has no number on these puzzles."]
    )
    paths = kept_of(found.puzzles, beside.measured)
    kept_studies = [StudyResults.of_kept(path.with_suffix("")) for path in paths]
    variants = variants_text(kept_studies, lambda kind, puzzle: drawn(puzzle, kind))
    sections += ["\n" * bool(variants) + variants, listed_puzzles.instance_sets(found, shown), provenance_text(found)]
    write_text(target / "report.md", "\n".join([*sections, *([kept_text(kept_studies)] if kept_studies else [])]))
    times = compare(reported[reported["quantity"].isin(TIMES)], found.with_times(), kept, facts)
    timed = as_thesis(
        compare_listed(others[others["quantity"].isin(LARGE_TIMES)], listed(found.with_times(), beside, facts))
    )
    _write_timings(
        found.with_times(), pd.concat([part for part in (times, timed) if len(part)] or [times]), target, beside
    )
    return numbers


def read_others(puzzles: Iterable[str], beside: Beside) -> pd.DataFrame:
    """What documents other than the thesis say of the study's puzzles, in folders of data/reported."""
    frames = [read_reported(documents(puzzle, beside.reported), puzzle) for puzzle in puzzles]
    return pd.concat(frames, ignore_index=True)


def on_these(named: pd.Series, puzzles: Iterable[str]) -> pd.Series:
    """Which of some puzzles, by name, are of a kind that a study has: a smaller tower is part of a larger one."""
    kinds = {family(puzzle) for puzzle in puzzles}
    return named.map(lambda name: family(name) in kinds).astype(bool)


def listed(found: StudyResults, beside: Beside, facts: Facts) -> Listed:
    """What answers them: the study's own trainings where it has those, else what was kept of them."""
    kept = StudyResults.of_kept(beside.measured / "final_year_report")
    return Listed(found if found.has(f"models/{NETWORK}") else kept, facts)


def pictures(found: StudyResults, beside: Beside):
    """A function that gives the figures of some kinds on a puzzle as Markdown."""
    entries = catalogue(found.params, beside.measured)

    def drawn(puzzle: str, *kinds: str) -> str:
        chosen = [[entry for entry in entries if (entry.kind, entry.puzzle) == (kind, puzzle)] for kind in kinds]
        return "\n".join(gallery(figures, beside.captions) for figures in chosen if figures)

    return drawn


def gather_facts(found: StudyResults, beside: Beside) -> Facts:
    """What the study knows without a network."""
    drawn = {puzzle: found.find(f"instances/{puzzle}/distributions") for puzzle in found.models}
    distributions = {puzzle: frame for puzzle, frame in drawn.items() if frame is not None}
    tables = {puzzle: found.card(f"tables/{puzzle}")["metrics"] for puzzle in found.models}
    half_turns = {puzzle: metrics.get("diameter_half_turns", NAN) for puzzle, metrics in tables.items()}
    counts = states_drawn(found, distributions)
    listings, states = replay_listings(found, beside.reported), states_per_distance(found)
    return Facts(found.study, states, half_turns, counts, distributions, listings, found.params.architectures)


def states_drawn(found: StudyResults, distributions: dict[str, pd.DataFrame]) -> dict[tuple[str, str], int]:
    """How many states each instance set, audit sample and sampler holds, by (puzzle, set)."""
    drawn = {}
    for puzzle, models in found.models.items():
        sets = found.frame(f"instances/{puzzle}")["set"].value_counts()
        drawn |= {(puzzle, name): int(count) for name, count in sets.items()}
        measures = found.frame(f"audits/{models[0]}/measures")
        drawn[puzzle, "sample"] = int(measures.loc[measures["scope"] == "sample", "states"].max())
    for puzzle, spread in distributions.items():
        sums = spread.groupby(["sampler", "walk_max"])["sampled"].sum()
        drawn |= {(puzzle, f"{sampler}_{walk_max}"): int(count) for (sampler, walk_max), count in sums.items()}
    return drawn


def replay_listings(found: StudyResults, reported: Path) -> dict[float, Replay]:
    """The literature's solutions by path weight, none where the study has no table of their puzzle."""
    if not (found.folder / "tables" / f"{LISTED_PUZZLE}.npz").exists():
        return {}
    puzzle, distance = make(LISTED_PUZZLE), found.arrays(f"tables/{LISTED_PUZZLE}")["distance"]
    return {weight: replay(puzzle, read_csv(reported / name), distance) for weight, name in LISTINGS.items()}


def _write_timings(found: StudyResults, comparison: pd.DataFrame, target: Path, beside: Beside) -> None:
    stages, searches = timings.stage_timings(found), timings.search_timings(found)
    write_csv(target / "timings" / "stages.csv", stages)
    write_csv(target / "timings" / "searches.csv", searches)
    write_csv(target / "timings" / "reported_vs_reproduced.csv", comparison)
    entries = [entry for entry in catalogue(found.params) if entry.timed]
    parts = [
        render("timings", study=found.study, stages=stages),
        timings.of_exhaustive(found, list(found.models), rows_table(comparison) if len(comparison) else None),
        gallery(entries, beside.captions),
    ]
    write_text(target / "timings.md", "\n".join(parts))
