"""Stage: write the report of a study, its tables, its headline numbers and its timings."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from costtogo.analysis.documents import documents
from costtogo.analysis.listings import Replay, replay
from costtogo.analysis.literature import read_reported
from costtogo.figures.catalogue import catalogue, kept_of
from costtogo.files import read_arrays, read_csv, read_frame, write_csv, write_json, write_text
from costtogo.params.study import Study
from costtogo.puzzles import family, make
from costtogo.report.answers import NAN
from costtogo.report.compared import compared
from costtogo.report.comparison import TIMES, compare
from costtogo.report.facts import Facts
from costtogo.report.large_compared import compared as compared_documents
from costtogo.report.large_comparison import LARGE_TIMES
from costtogo.report.listed_answers import NETWORK, Listed, as_thesis, compare_listed
from costtogo.report.measured import measured_text
from costtogo.report.sources import KeptResults, OwnResults, forget
from costtogo.report.tables import Results, gather, headline_numbers, states_per_distance, tables
from costtogo.report.text import gallery, report
from costtogo.report.timings import search_timings, stage_timings, timings_text
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
    forget()
    found = gather(study, results)
    reported = read_csv(beside.numbers, dtype={"section": str})
    reported = reported[on_these(reported["puzzle"], study.puzzles)]
    facts = gather_facts(study, found, beside)
    kept = KeptResults(beside.measured, "thesis")
    comparison = compare(reported, OwnResults(found.folder), kept, facts)
    others = read_others(study, beside)
    answered = compare_listed(others, listed(found, beside, facts))
    written = {target / "tables" / f"{name}.csv": frame for name, frame in tables(found).items()}
    for path, frame in written.items():
        write_csv(path, frame)
    remove_others((target / "tables").glob("*.csv"), written)
    both = [part for part in (comparison, as_thesis(answered)) if len(part)]
    write_csv(target / "reported_vs_reproduced.csv", pd.concat(both) if both else comparison)
    numbers = headline_numbers(found)
    write_json(target / "metrics.json", numbers)
    sections = [compared(comparison, facts.listings)] if len(comparison) else []
    sections += ["\n".join(compared_documents(answered, {}, "The final-year report"))] if len(answered) else []
    sections += (
        []
        if both
        else ["## Reported and reproduced\n\nThe literature in data/reported has no number on these puzzles."]
    )
    kept_studies = kept_of(study.puzzles, beside.measured)
    sections.append(variants_text(kept_studies, pictures(study, beside)))
    text = report(study, found, beside.captions, beside.measured, *sections)
    write_text(target / "report.md", text + measured_text(kept_studies))
    times = compare(reported[reported["quantity"].isin(TIMES)], OwnResults(found.folder, timed=True), kept, facts)
    timed = as_thesis(
        compare_listed(others[others["quantity"].isin(LARGE_TIMES)], listed(found, beside, facts, timed=True))
    )
    _write_timings(study, found, pd.concat([part for part in (times, timed) if len(part)] or [times]), target, beside)
    return numbers


def read_others(study, beside: Beside) -> pd.DataFrame:
    """What documents other than the thesis say of the study's puzzles, in folders of data/reported."""
    frames = [read_reported(documents(puzzle, beside.reported), puzzle) for puzzle in study.puzzles]
    return pd.concat(frames, ignore_index=True)


def on_these(named: pd.Series, puzzles: Iterable[str]) -> pd.Series:
    """Which of some puzzles, by name, are of a kind that a study has: a smaller tower is part of a larger one."""
    kinds = {family(puzzle) for puzzle in puzzles}
    return named.map(lambda name: family(name) in kinds).astype(bool)


def listed(found: Results, beside: Beside, facts: Facts, timed: bool = False) -> Listed:
    """What answers them: the study's own trainings where it has those, else what was kept of them."""
    own = OwnResults(found.folder, timed=timed)
    kept = KeptResults(beside.measured, "final_year_report")
    return Listed(own if own.card("models", NETWORK) else kept, facts)


def pictures(study, beside: Beside):
    """A function that gives the figures of a kind on a puzzle as Markdown."""
    entries = catalogue(study, beside.measured)

    def drawn(kind: str, puzzle: str) -> str:
        chosen = [entry for entry in entries if (entry.kind, entry.puzzle) == (kind, puzzle)]
        return gallery(chosen, beside.captions)

    return drawn


def gather_facts(study, found: Results, beside: Beside) -> Facts:
    """What the study knows without a network."""
    paths = {puzzle: found.folder / "instances" / puzzle / "distributions.parquet" for puzzle in found.models}
    distributions = {puzzle: read_frame(path) for puzzle, path in paths.items() if path.exists()}
    tables = {puzzle: found.card("tables", puzzle)["metrics"] for puzzle in found.models}
    half_turns = {puzzle: metrics.get("diameter_half_turns", NAN) for puzzle, metrics in tables.items()}
    drawn = states_drawn(found, distributions)
    listings, states = replay_listings(found, beside.reported), states_per_distance(found)
    return Facts(study.study, states, half_turns, drawn, distributions, listings, study.architectures)


def states_drawn(found: Results, distributions: dict[str, pd.DataFrame]) -> dict[tuple[str, str], int]:
    """How many states each instance set, audit sample and sampler holds, by (puzzle, set)."""
    drawn = {}
    for puzzle, models in found.models.items():
        sets = found.frame(f"instances/{puzzle}.parquet")["set"].value_counts()
        drawn |= {(puzzle, name): int(count) for name, count in sets.items()}
        measures = found.frame(f"audits/{models[0]}/measures.parquet")
        drawn[puzzle, "sample"] = int(measures.loc[measures["scope"] == "sample", "states"].max())
    for puzzle, spread in distributions.items():
        sums = spread.groupby(["sampler", "walk_max"])["sampled"].sum()
        drawn |= {(puzzle, f"{sampler}_{walk_max}"): int(count) for (sampler, walk_max), count in sums.items()}
    return drawn


def replay_listings(found: Results, reported: Path) -> dict[float, Replay]:
    """The literature's solutions by path weight, none where the study has no table of their puzzle."""
    table = found.folder / "tables" / f"{LISTED_PUZZLE}.npz"
    if not table.exists():
        return {}
    puzzle, distance = make(LISTED_PUZZLE), read_arrays(table)["distance"]
    return {weight: replay(puzzle, read_csv(reported / name), distance) for weight, name in LISTINGS.items()}


def _write_timings(study, found: Results, comparison: pd.DataFrame, target: Path, beside: Beside) -> None:
    stages, searches = stage_timings(found), search_timings(found)
    write_csv(target / "timings" / "stages.csv", stages)
    write_csv(target / "timings" / "searches.csv", searches)
    write_csv(target / "timings" / "reported_vs_reproduced.csv", comparison)
    write_text(target / "timings.md", timings_text(study, found, stages, searches, comparison, beside.captions))
