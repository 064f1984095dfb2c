"""A study's report, whatever is asked of its puzzles: its pages, its tables, its timings, the literature with it.

A chapter is a module about some results: heading; compared, the literature's numbers with ours; findings and
summary for the first page; pages, of the puzzles; literature and differences for the appendices; and timings.
"""

from collections.abc import Iterator
from functools import partial
from itertools import zip_longest
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pandas as pd

from costtogo.files import remove_others, write_csv, write_json, write_text
from costtogo.literature.comparison import published
from costtogo.puzzles import title as puzzle_title
from costtogo.report import listed, local_vi, sampled
from costtogo.report.beside import claims_in_short, rules_text, unmet
from costtogo.report.figures import Figures
from costtogo.report.pages import FIRST, FOLDER, Page, placed, written
from costtogo.report.provenance import kept_text, provenance_text
from costtogo.report.render import deeper, items, render
from costtogo.report.variants import variants_text
from costtogo.tables.results import StudyResults, Tables, by_size
from costtogo.tables.timings import search_timings, stage_timings
from costtogo.tables.whole import headline_numbers, of_study, tables_of

FINDINGS = 5  # that the first page tells
PUBLISHED = "published"  # the folder of the reports that git has


class Chapter(NamedTuple):
    """A chapter's module, the results that it is about, and the literature's numbers with these."""

    module: ModuleType
    results: StudyResults
    comparison: pd.DataFrame


def write(results: StudyResults, target: Path, short: bool = False, deeper: bool = False) -> dict[str, Any]:
    """Write report.md, pages/*.md, timings.md, reported_vs_reproduced.csv, metrics/*.json, tables/*.csv, timings/*.csv.

    target: reports/<study>; deeper: one folder below, as reports/published/<study>.  short: without tables, metrics,
    timings/ and the figures that can be drawn again from what was kept and that no page of a puzzle shows.  All but
    timings come out byte-identical from the same results.  Returns the headline numbers of each model.
    """
    numbers, figures = headline_numbers(results), Figures.of_study(results, timed=not short)
    by_puzzle = {puzzle: tables_of(results.of(puzzle)) for puzzle in results.puzzles}
    chapters = list(chapters_of(results))
    beside = pd.concat(each.comparison for each in chapters)
    form = partial(placed, short=short, deeper=deeper)
    pages = pages_of(results, chapters, by_puzzle, figures, short)
    write_text(target / FIRST, form(first_page(results, chapters, by_puzzle, pages, short)))
    told = {page.name: written(page._replace(text=form(page.text)), results.study) for page in pages}
    write_each(target / FOLDER, "md", told)
    write_csv(target / "reported_vs_reproduced.csv", published(beside))
    text, frames = timings_of(results.with_times(), figures)
    write_text(target / "timings.md", form(text))
    if not short:
        write_each(target / "metrics", "json", numbers)
        write_each(target / "tables", "csv", of_study(results, by_puzzle))
        write_each(target / "timings", "csv", frames)
    return numbers


def first_page(
    results: StudyResults, chapters: list[Chapter], by_puzzle: dict[str, Tables], pages: list[Page], short: bool
) -> str:
    """The question, what was found, how the literature's claims came out, key numbers, how it was done, the pages."""
    summaries = [each.module.summary(each.results, by_puzzle, each.comparison) for each in chapters]
    parts = [
        f"# {title(chapters)}: the study `{results.study}`\n",
        first_screen(results, chapters, by_puzzle),
        *headed(chapters, summaries),
        render("pages", pages=by_kind(pages), study=results.study, short=short),
    ]
    return "\n".join(filter(None, parts))


def by_kind(pages: list[Page]) -> dict[str, list[Page]]:
    """The pages of each kind, in the order in which they come."""
    kinds = dict.fromkeys(page.kind for page in pages)
    return {kind: [page for page in pages if page.kind == kind] for kind in kinds}


def first_screen(results: StudyResults, chapters: list[Chapter], by_puzzle: dict[str, Tables]) -> str:
    """What a reader sees first: the question, what was found on each puzzle, how the literature's claims came out."""
    comparison = pd.concat(each.comparison for each in chapters)
    values = claims_in_short(comparison) if len(comparison) else {"scoreboard": ""}
    found = [of for each in chapters for of in each.module.findings(each.results, by_puzzle, each.comparison)]
    fallen = items(unmet(comparison))
    return render(
        "first_screen",
        puzzles=list(map(puzzle_title, results.puzzles)),
        learned=list(map(puzzle_title, results.models)),
        listed=list(map(puzzle_title, listed.puzzles(results))),
        findings=[*most_telling(found, FINDINGS - len(fallen)), *fallen],
        **values,
    )


def most_telling(found: list[list[str]], most: int) -> list[str]:
    """Up to `most` findings: the first of each puzzle, then the second of each. Puzzles keep their order."""
    ranked = [(place, text) for rank in zip_longest(*found) for place, text in enumerate(rank) if text]
    return [text for _, text in sorted(ranked[:most], key=lambda each: each[0])]


def pages_of(
    results: StudyResults, chapters: list[Chapter], by_puzzle: dict[str, Tables], figures: Figures, short: bool
) -> list[Page]:
    """The pages of the puzzles, then the appendices; an empty one is left out."""
    own = [page for each in chapters for page in each.module.pages(each.results, by_puzzle, each.comparison, figures)]
    others = list(filter(lambda page: page.text, appendices(results, chapters, figures, short)))
    asked = figures.not_kept(results) if short else figures
    left = {page.name: page for page in figures_left(asked, own + others)}
    own = [with_more_figures(page, left.get(f"appendix_figures_{page.name}")) for page in own]
    return [*own, *left.values(), *others]


def with_more_figures(page: Page, more: Page | None) -> Page:
    """The page of a puzzle, at its end a link to that of more figures where there is one."""
    if more is None:
        return page
    return page._replace(text=f"{page.text}\nMore figures are on [a page of their own]({more.place}).\n")


def appendices(results: StudyResults, chapters: list[Chapter], figures: Figures, short: bool) -> Iterator[Page]:
    """The appendices but those of figures."""
    beside, kept = pd.concat(each.comparison for each in chapters), listed.kept(results)
    for name in ("literature", "differences"):
        texts = [getattr(each.module, name)(each.results, each.comparison) for each in chapters]
        yield Page(f"appendix_{name}", name, appendix(name, texts))
    yield Page("appendix_rules", "rules", rules_text(beside) if len(beside) else "")
    yield Page("appendix_variants", "variants", variants_text(kept, listed.puzzles(results), figures.of))
    yield Page("appendix_instances", "instances", listed.instance_sets(results))
    texts = [provenance_text(results, short), kept_text(kept)]
    yield Page("appendix_provenance", "provenance", appendix("provenance", texts))


def appendix(name: str, texts: list[str]) -> str:
    """The parts of an appendix below the head that its template has; empty where there are none."""
    told = list(filter(None, texts))
    return "\n".join([render("head", name=name), *told]) if told else ""


def figures_left(figures: Figures, pages: list[Page]) -> Iterator[Page]:
    """For each puzzle an appendix of the figures that no page shows."""
    shown = "".join(page.text for page in pages)
    left = [entry for entry in figures.entries if not entry.timed and f"({entry.stem}.png)" not in shown]
    for puzzle in sorted({entry.puzzle for entry in left}, key=by_size):
        own = [entry for entry in left if entry.puzzle == puzzle]
        kinds = dict.fromkeys(entry.kind for entry in own)
        galleries = [figures.gallery([entry for entry in own if entry.kind == kind]) for kind in kinds]
        text = "\n".join([f"# {puzzle_title(puzzle)}\n", *galleries])
        yield Page(f"appendix_figures_{puzzle}", "figures", text)


def chapters_of(results: StudyResults) -> Iterator[Chapter]:
    """One on all puzzles whose states are listed, then for each other puzzle those on what the study asks of it."""
    every_state = listed.puzzles(results)
    asked = [(listed, every_state)] if every_state else []
    asked += [(sampled, [puzzle]) for puzzle in results.models if puzzle not in every_state]
    asked += [(local_vi, [puzzle]) for puzzle, params in results.puzzles.items() if params.local_vi]
    for module, puzzles in asked:
        own = results.of(*puzzles)
        yield Chapter(module, own, module.compared(own))


def title(chapters: list[Chapter]) -> str:
    """What the report is called: as its only chapter, or as one on several puzzles."""
    first = chapters[0]
    return first.module.heading(first.results) if len(chapters) == 1 else listed.heading(first.results)


def headed(chapters: list[Chapter], texts: list[str]) -> Iterator[str]:
    """The texts of chapters, below headings where there are several; that on listed puzzles, the first, has none."""
    for chapter, text in zip(chapters, texts, strict=True):
        if len(chapters) == 1 or chapter.module is listed:
            yield text
        else:
            yield f"## {chapter.module.heading(chapter.results)}\n\n{deeper(text)}"


def write_each(folder: Path, kind: str, contents: dict[str, Any]) -> None:
    """Write a file of a kind for each content by its stem, and remove those of an earlier run."""
    target = {folder / f"{name}.{kind}": content for name, content in contents.items()}
    for path, content in target.items():
        {"csv": write_csv, "json": write_json, "md": write_text}[kind](path, content)
    remove_others(folder.glob(f"*.{kind}"), target)


def timings_of(results: StudyResults, figures: Figures) -> tuple[str, Tables]:
    """The text of timings.md and the tables of timings/, of results with their wall-clock times."""
    chapters = list(chapters_of(results))
    frames = {"stages": stage_timings(results)}
    if results.model_names:
        frames["searches"] = search_timings(results)
    texts = [each.module.timings(each.results, each.comparison, figures) for each in chapters]
    head = render("timings", study=results.study, stages=frames["stages"])
    frames["reported_vs_reproduced"] = published(pd.concat(each.comparison for each in chapters))
    return "\n".join([head, *headed(chapters, texts)]), frames
