"""The figures of a study's report as Markdown."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from costtogo.figures.catalogue import FigureEntry, captions, catalogue, drawn
from costtogo.tables.extracts import OF_MORE, kind_of
from costtogo.tables.results import StudyResults

MOST = 2  # figures of a kind on the page of a puzzle: of more there is an appendix


@dataclass(frozen=True)
class Figures:
    """The figures whose stages have run, in the order of the catalogue, and the captions by kind."""

    entries: list[FigureEntry]
    captions: dict[str, str]

    @classmethod
    def of_study(cls, results: StudyResults, timed: bool = True) -> "Figures":
        """Those of a study, what other studies kept among them; timed: whether those of wall-clock time, too."""
        entries = catalogue(results.params, results.references.measured)
        shown = [entry for entry in drawn(entries, results.find_card) if timed or not entry.timed]
        return cls(shown, captions(results.references.captions))

    def not_kept(self, results: StudyResults) -> "Figures":
        """Those that cannot be drawn again from what was kept of a study."""
        return replace(self, entries=[entry for entry in self.entries if not is_kept(entry, results)])

    def of(self, puzzle: str) -> Callable[..., str]:
        """A function that gives the figures of some kinds on a puzzle, of each kind all or, of more than MOST, none."""

        def of_kinds(*kinds: str) -> str:
            own = [entry for entry in self.entries if entry.puzzle == puzzle]
            alike = [[entry for entry in own if entry.kind == kind] for kind in kinds]
            return "\n".join(self.gallery(entries) for entries in alike if 0 < len(entries) <= MOST)

        return of_kinds

    def timed(self, puzzles: Iterable[str]) -> list[FigureEntry]:
        """Those of some puzzles that show wall-clock time; local value iteration shows its own."""
        shown = [entry for entry in self.entries if entry.timed and entry.puzzle in puzzles]
        return [entry for entry in shown if not entry.kind.startswith("local_vi")]

    def gallery(self, entries: list[FigureEntry]) -> str:
        """Figures of one kind, each with its label, and their caption below the last; empty where there are none."""
        if not entries:
            return ""
        shown = [f"![{entry.label}]({entry.stem}.png)\n\n**{_title(entry.label)}.**" for entry in entries]
        return "\n\n".join(shown) + f" {self.captions[entries[0].kind]}\n"


def _title(label: str) -> str:
    """A label with a capital, unless it begins with the name of what is shown."""
    return label if ": " in label else label[0].upper() + label[1:]


def is_whole(address: str) -> bool:
    """Whether enough of a table is kept for figures."""
    return kind_of(address) not in OF_MORE


def is_kept(entry: FigureEntry, results: StudyResults) -> bool:
    """Whether all that a figure shows was kept with the study's report, so that it can be drawn again."""
    return all(is_whole(table) and results.keeps(table) for table in entry.own_tables)
