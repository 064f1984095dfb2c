"""A study's report, whatever is asked of its puzzles: its text, its tables, its timings, the literature beside it.

A chapter is a module that tells of some results: heading, text, timings and compared, the literature's numbers beside
ours.
"""

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pandas as pd

from costtogo.files import remove_others, write_csv, write_json, write_text
from costtogo.report import exhaustive, local_vi, sampled
from costtogo.report.figures import Figures
from costtogo.report.literature import claims_in_short, rules_text
from costtogo.report.provenance import kept_text, provenance_text
from costtogo.report.render import deeper, render
from costtogo.report.results import StudyResults
from costtogo.report.tables import headline_numbers, of_study, tables_of
from costtogo.report.timings import search_timings, stage_timings


class Chapter(NamedTuple):
    """A chapter's module, the results that it is about, and the literature's numbers beside these."""

    module: ModuleType
    results: StudyResults
    comparison: pd.DataFrame


def write(results: StudyResults, target: Path) -> dict[str, Any]:
    """Write report.md, timings.md, reported_vs_reproduced.csv, metrics/*.json, tables/*.csv and timings/*.csv.

    target: reports/<study>.  All but timings come out byte-identical from the same results.  Returns the numbers that
    stand for each model, as headline_numbers does.
    """
    numbers, figures = headline_numbers(results), Figures.of_study(results)
    by_puzzle = {puzzle: tables_of(results.of(puzzle)) for puzzle in results.puzzles}
    chapters = list(chapters_of(results))
    texts = [each.module.text(each.results, by_puzzle, each.comparison, figures) for each in chapters]
    beside = pd.concat(each.comparison for each in chapters)
    parts = [
        f"# {title(chapters)}: the study `{results.study}`\n",
        first_screen(chapters, beside),
        *headed(chapters, texts),
    ]
    parts += [rules_text(beside) if len(beside) else "", provenance_text(results), kept_text(exhaustive.kept(results))]
    write_text(target / "report.md", "\n".join(filter(None, parts)))
    write_each(target / "metrics", "json", numbers)
    write_csv(target / "reported_vs_reproduced.csv", beside)
    write_each(target / "tables", "csv", of_study(results, by_puzzle))
    write_timings(results.with_times(), target, figures)
    return numbers


def first_screen(chapters: list[Chapter], comparison: pd.DataFrame) -> str:
    """What a reader sees first: the question, what was found on each puzzle, how the literature's claims came out."""
    told = [found for each in chapters if each.module is exhaustive for found in exhaustive.findings(each.results)]
    values = claims_in_short(comparison) if len(comparison) else {"scoreboard": ""}
    return render("first_screen", findings=told, **values)


def chapters_of(results: StudyResults) -> Iterator[Chapter]:
    """One on all puzzles whose states are listed, then for each other puzzle those on what is asked of it."""
    listed = exhaustive.puzzles(results)
    asked = [(exhaustive, listed)] if listed else []
    asked += [(sampled, [puzzle]) for puzzle in results.models if puzzle not in listed]
    asked += [(local_vi, [puzzle]) for puzzle, params in results.puzzles.items() if params.local_vi]
    for module, puzzles in asked:
        own = results.of(*puzzles)
        yield Chapter(module, own, module.compared(own))


def title(chapters: list[Chapter]) -> str:
    """What the report is called: as its only chapter, or as one on several puzzles."""
    first = chapters[0]
    return first.module.heading(first.results) if len(chapters) == 1 else exhaustive.heading(first.results)


def headed(chapters: list[Chapter], texts: list[str]) -> Iterator[str]:
    """The texts of chapters, below headings where there are several; that on listed puzzles has one for each."""
    for chapter, text in zip(chapters, texts, strict=True):
        if len(chapters) == 1 or chapter.module is exhaustive:
            yield text
        else:
            yield f"## {chapter.module.heading(chapter.results)}\n\n{deeper(text)}"


def write_each(folder: Path, kind: str, contents: dict[str, Any]) -> None:
    """Write a "csv" for each table or a "json" for each content by its stem, and remove those of an earlier run."""
    written = {folder / f"{name}.{kind}": content for name, content in contents.items()}
    for path, content in written.items():
        {"csv": write_csv, "json": write_json}[kind](path, content)
    remove_others(folder.glob(f"*.{kind}"), written)


def write_timings(results: StudyResults, target: Path, figures: Figures) -> None:
    """Write timings.md and timings/*.csv from results with their wall-clock times."""
    chapters, frames = list(chapters_of(results)), {}
    if results.model_names:
        frames = {"stages": stage_timings(results), "searches": search_timings(results)}
    texts = [each.module.timings(each.results, each.comparison, figures) for each in chapters]
    head = render("timings", study=results.study, stages=frames.get("stages"))
    write_text(target / "timings.md", "\n".join([head, *headed(chapters, texts)]))
    beside = pd.concat(each.comparison for each in chapters)
    write_each(target / "timings", "csv", frames | {"reported_vs_reproduced": beside})
