"""Where two runs of a study differ: their headline numbers, their verdicts, and what they were made with.

A number is *the same*; or *within seeds*, no farther apart than two trainings of one recipe with other seeds
would be in nineteen of twenty cases; or *different*. A verdict is the same or another.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t

from costtogo.files import flatten
from costtogo.literature.claims import claims_judged
from costtogo.literature.comparison import FOUND, PRIVATE
from costtogo.literature.words import DECIDED, FACT, HELD, VERDICTS
from costtogo.report.write import chapters_of
from costtogo.tables.results import StudyResults
from costtogo.tables.several_seeds import of_seeds
from costtogo.tables.whole import OF_LISTED, headline_numbers

SAME, WITHIN, DIFFERENT, ALONE = "the same", "within seeds", "different", "in one alone"
NUMBERS = ["model", "measure", "left", "right", "seeds", "seeds_differ_by", "is"]
LEVEL = 0.95


@dataclass(frozen=True)
class Difference:
    """Two runs side by side, the left the one that is asked about.

    numbers: NUMBERS; seeds: of how many trainings their spread is known, seeds_differ_by: what two of them differ by at
    most in nineteen of twenty cases.  rows: each number of the literature, its columns and left, right, left_verdict,
    right_verdict, is.  counts: claims by verdict, columns left and right.  settings: place, left, right of each
    parameter, version, commit and processor that is not the same.
    """

    numbers: pd.DataFrame
    rows: pd.DataFrame
    counts: pd.DataFrame
    settings: pd.DataFrame

    @property
    def differs(self) -> bool:
        """Whether a number differs by more than another seed would make it, or a verdict is another."""
        return bool(self.numbers["is"].isin([DIFFERENT, ALONE]).any() or len(self.changed))

    @property
    def changed(self) -> pd.DataFrame:
        """The rows of the literature whose verdict is another."""
        return self.rows[self.rows["left_verdict"] != self.rows["right_verdict"]]


def difference(left: StudyResults, right: StudyResults) -> Difference:
    """How two runs differ, of one study or of two that have models or claims in common."""
    sides = [pd.concat(chapter.comparison for chapter in chapters_of(each)) for each in (left, right)]
    counts = pd.DataFrame(dict(zip(("left", "right"), map(_by_verdict, sides), strict=True)))
    settings = pd.DataFrame(_settings(left, right), columns=["what", "place", "left", "right"])
    return Difference(_numbers(left, right), _rows(*sides), counts.reindex(VERDICTS).dropna(how="all"), settings)


def _numbers(left: StudyResults, right: StudyResults) -> pd.DataFrame:
    """The headline numbers of both, in the order of the left."""
    numbers = [headline_numbers(each) for each in (left, right)]
    spreads = _spreads(left, numbers[0]) | _spreads(right, numbers[1])
    keys = dict.fromkeys((model, name) for each in numbers for model, of in each.items() for name in of)
    names = left.trainings | right.trainings
    found = []
    for model, name in keys:
        one, other = (each.get(model, {}).get(name, np.nan) for each in numbers)
        seeds, apart = spreads.get((names[model].variant, name), (0, np.nan))
        found.append([model, name, one, other, seeds, apart, _is(one, other, apart)])
    return pd.DataFrame(found, columns=NUMBERS)


def _is(one: float, other: float, apart: float) -> str:
    if np.isnan(one) or np.isnan(other):
        return ALONE
    if np.isclose(one, other, rtol=1e-9, atol=0):
        return SAME
    return WITHIN if abs(one - other) <= apart else DIFFERENT


def _spreads(results: StudyResults, numbers: dict[str, Any]) -> dict[tuple[str, str], tuple[int, float]]:
    """By recipe and measure how many seeds there are, and what two of them differ by at most, as _apart says."""
    found: dict[tuple[str, str], list[float]] = {}
    for model, of_model in numbers.items():
        name, seed = results.trainings[model]
        for measure, value in of_model.items() if seed else ():
            found.setdefault((name, measure), []).append(value)
    for model in (model for model in results.model_names if results.puzzles[results.model(model).puzzle].is_exhaustive):
        kept = of_seeds(results.of(results.model(model).puzzle), model)
        for measure, column in OF_LISTED.items():
            found.setdefault((model, measure), []).extend(kept.get(column.removeprefix("selected_"), []))
    known = {place: [value for value in values if np.isfinite(value)] for place, values in found.items()}
    return {place: (len(values), _apart(values)) for place, values in known.items() if len(values) > 1}


def _apart(values: list[float]) -> float:
    """What two more trainings would differ by at most in LEVEL of cases, from the spread of some (Student's t)."""
    return float(t.ppf((1 + LEVEL) / 2, len(values) - 1) * np.std(values, ddof=1) * np.sqrt(2))


def _rows(left: pd.DataFrame, right: pd.DataFrame) -> pd.DataFrame:
    """Each number of the literature that both have, with what each found for it."""
    sides = []
    for frame, side in ((left, "left"), (right, "right")):
        about = [name for name in frame if name not in (*FOUND, *PRIVATE)]
        place = pd.Series(["\0".join(map(str, row)) for row in frame[about].to_numpy()], index=frame.index)
        kept = frame[about].assign(place=place, again=place.groupby(place).cumcount())
        sides.append(kept.assign(**{side: frame["reproduced"], f"{side}_verdict": frame["verdict"]}))
    joined = sides[0].merge(sides[1][["place", "again", "right", "right_verdict"]], on=["place", "again"])
    one, other = (pd.to_numeric(joined[side], errors="coerce").astype(float) for side in ("left", "right"))
    same = np.isclose(one, other, rtol=1e-9, atol=0)
    texts = np.array([str(row.left) == str(row.right) for row in joined.itertuples()], dtype=bool)
    return joined.drop(columns=["place", "again"]).assign(**{"is": np.where(same | texts, SAME, DIFFERENT)})


def _by_verdict(rows: pd.DataFrame) -> pd.Series:
    """How many claims about results have each verdict."""
    judged = claims_judged(rows)
    return judged.loc[judged["kind"] != FACT, "verdict"].value_counts()


def held(counts: pd.Series) -> int:
    """How many of the claims hold."""
    return int(counts.reindex(HELD).fillna(0).sum())


def decided(counts: pd.Series) -> int:
    """How many of the claims are decided."""
    return int(counts.reindex(DECIDED).fillna(0).sum())


def _settings(left: StudyResults, right: StudyResults) -> Iterator[list[str]]:
    """Which parameters, code, versions, commits and processors differ."""
    parameters = [flatten(each.params.model_dump(mode="json")) for each in (left, right)]
    for place in dict.fromkeys([*parameters[0], *parameters[1]]):
        told = [str(each.get(place, "–")) for each in parameters]
        if told[0] != told[1]:
            yield ["parameter", place, *told]
    codes = [{place: card.get("code") for place, card in each.cards.items()} for each in (left, right)]
    groups = [place.split("/")[0] for place in codes[0].keys() & codes[1] if codes[0][place] != codes[1][place]]
    for group in sorted({*groups}):
        alike = sum(place.startswith(f"{group}/") for place in codes[0].keys() & codes[1])
        yield ["code", group, f"of {groups.count(group)} of {alike} stages", "another"]
    versions = [_each(each, lambda card: card.get("versions", {})) for each in (left, right)]
    runs = [_each(each.with_times(), lambda card: _run_of(card.get("timing", {}))) for each in (left, right)]
    for what, sides in (("version", versions), ("run", runs)):
        for name in dict.fromkeys([*sides[0], *sides[1]]):
            told = [", ".join(sorted(each.get(name, ()))) or "–" for each in sides]
            if told[0] != told[1]:
                yield [what, name, *told]


def _run_of(timing: dict[str, Any]) -> dict[str, str]:
    """The commit and the processor of a stage's run."""
    commit = timing.get("commit", "")
    return {"commit": commit[:12] + "+" * commit.endswith("+"), "processor": timing.get("processor", "")}


def _each(results: StudyResults, read: Any) -> dict[str, set[str]]:
    """What the cards of a study name, by name: all values."""
    found: dict[str, set[str]] = {}
    for card in results.cards.values():
        for name, value in read(card).items():
            found.setdefault(name, set()).add(str(value))
    return found
