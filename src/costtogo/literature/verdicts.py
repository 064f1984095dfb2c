"""The verdict on one number of the literature: the rules, which templates/rules.md.j2 prints.

A row of data/reported says what kind its number is. A cost or a setting is not judged. A result, a claim in words and a
fact are, by the functions of RULES in their order: the first that speaks decides, and says why in words.
"""

import math
from collections.abc import Callable
from fractions import Fraction

from costtogo.literature.finding import Finding, Row
from costtogo.literature.quantities import is_share, quantity_of
from costtogo.literature.words import (
    BETTER,
    CANNOT_TELL,
    COST,
    FACT,
    NOT_COMPARABLE,
    NOT_JUDGED,
    NOT_REACHED,
    NOT_RUN,
    REPRODUCED,
    SETTING,
    SOURCE_ERRS,
    WORSE,
)

WIDEST = 5.0  # points: half of the widest range of a share that can still tell; a difference of so much matters
ENOUGH = 5  # seeds from which their standard deviation is known well enough to say that no more would help
NORMAL = 1.96  # standard deviations to either side that 95 % of trainings lie within, however many are run
UNLEARNED = 0.9  # of the mean distance, which is the error of 0 everywhere: such a network has learned nothing
HALF_LEARNED = 0.5  # the same: from there on a network is not better for what it does not overestimate
TRIVIAL = {"admissible_percent": 100.0, "overestimation_mean": 0.0, "consistent_percent": 100.0}  # where all is 0
Verdict = tuple[str, str]  # one of VERDICTS, and why


def judge(row: Row, found: Finding | None) -> Verdict:
    """The verdict on a row and why.  found: our number for it; None where there is none, so that it was not run."""
    return next(verdict for rule in RULES if (verdict := rule(row, found)) is not None)


def _not_judged(row: Row, found: Finding | None) -> Verdict | None:
    """Costs, settings and numbers that we took from the source are not judged, unless a cost came to nothing."""
    number = found if found is not None and not found.missing else None
    if row["kind"] == SETTING and number is None:
        return NOT_JUDGED, quantity_of(row["quantity"], row["repeated"]).reason or "a setting of the source"
    if row["kind"] == SETTING:
        same = _is_same(number.value, row["value"])
        return NOT_JUDGED, "the same setting" if same else f"a setting; ours is {number.value:.6g}"
    if row["kind"] == COST and number is not None:
        return NOT_JUDGED, "a cost"
    return (NOT_JUDGED, "the source's own number") if found is not None and found.told else None


def _contradicted(row: Row, found: Finding | None) -> Verdict | None:
    """The source contradicts the number elsewhere; what it says instead is the row's erratum."""
    return (SOURCE_ERRS, "") if row.get("contradicted") == "yes" else None


def _missing(row: Row, found: Finding | None) -> Verdict | None:
    """We have no number: not run, or what the finding says of why it has none."""
    if found is None:
        return NOT_RUN, ""
    return (found.missing, found.note) if found.missing else None


def _unlearned(row: Row, found: Finding) -> Verdict | None:
    """A network that learned nothing, and a number that zero everywhere has as well."""
    if not found.error_share > UNLEARNED or row["quantity"] not in TRIVIAL:
        return None
    is_met = _touches(row, Finding(TRIVIAL[row["quantity"]])) or _is_better(row, found)
    return (NOT_REACHED, f"{_error(found)}: it has learned nothing") if is_met else None


def _error(found: Finding) -> str:
    return f"the network errs by {100 * found.error_share:.0f} % of the mean distance"


def _beyond(row: Row, found: Finding) -> Verdict | None:
    """No part of the range comes within the tolerance: they differ, however wide it is."""
    return None if _touches(row, found) else _differs(row, found)


def _too_wide(row: Row, found: Finding) -> Verdict | None:
    """A difference that matters would not show in a range as wide, unless all of it meets a bound.

    The range of a fact is the chance in the source's sample, which no run of ours would narrow.
    """
    low, high = range_of(found)
    half, limit = (high - low) / 2, limit_of(row)
    if found.fact or not half > limit or (row["relation"] != "=" and all(_meets(row, end) for end in (low, high))):
        return None
    unit = " points" if is_share(row["quantity"]) else ""
    matters = f"and {limit:.3g} would matter" if limit or row["relation"] == "=" else "on both sides of the bound"
    too_wide = f"the range is {half:.3g}{unit} to either side, {matters}"
    chance = half if math.isnan(found.chance) else found.chance  # of one training, by its instances alone
    if row.get("as_many") and chance > limit:
        return NOT_COMPARABLE, f"{too_wide}: the chance of so few instances, of which the source drew no more"
    if found.seeds < ENOUGH:
        return CANNOT_TELL, too_wide
    if NORMAL * found.spread > limit:
        return (
            NOT_COMPARABLE,
            f"{too_wide}: trainings of one recipe differ as much, so that one of the source tells little",
        )
    return CANNOT_TELL, f"{too_wide}; more seeds would decide it"


def _within(row: Row, found: Finding) -> Verdict:
    """The range comes within the tolerance of the reported number; a bound that lies in it must hold for ours."""
    theirs, relation, slack = row["value"], row["relation"], slack_of(row)
    if relation != "=":
        if not _meets(row, found.value) and found.fact:
            return NOT_COMPARABLE, "the bound lies within the chance of the source's own sample, which nobody kept"
        if not _meets(row, found.value):
            return CANNOT_TELL, "the bound lies within the range"
        return REPRODUCED, f"{found.value:.6g} {relation} {theirs:.6g}" + (f" ± {slack:.3g}" if slack else "")
    if is_by_range(row, found):
        return REPRODUCED, "within the range"
    return REPRODUCED, f"within {slack:.3g}" if slack else "the same"


def range_of(found: Finding) -> tuple[float, float]:
    """The ends of the range of a number: of its interval, where it has one."""
    return (found.value, found.value) if math.isnan(found.low) else (found.low, found.high)


def limit_of(row: Row) -> float:
    """The least difference from a row's number that matters, in its unit: half of the widest range that can tell."""
    if is_share(row["quantity"]):
        return WIDEST
    matters = quantity_of(row["quantity"], row["repeated"]).matters
    return max(slack_of(row), matters * abs(float(row["value"])))


def is_by_range(row: Row, found: Finding) -> bool:
    """Whether ours is the reported number only by its range, and misses the tolerance."""
    return row["relation"] == "=" and not _meets(row, found.value)


def _touches(row: Row, found: Finding) -> bool:
    """Whether any part of the range of a number is the reported one within the tolerance, or meets the bound."""
    low, high = range_of(found)
    is_around = row["relation"] == "=" and low <= row["value"] <= high
    return is_around or any(_meets(row, end) for end in (low, high))


def _differs(row: Row, found: Finding) -> Verdict:
    """Otherwise by which way is better; a fact of the puzzle shows that the source errs."""
    by = f"differs by {float(found.value - row['value']):+.4g}"
    if row["kind"] == FACT:
        return (SOURCE_ERRS, f"{by}, not by chance") if found.fact else (NOT_COMPARABLE, f"{by}, of other instances")
    better = _is_better(row, found)
    if (
        better and row["quantity"] in TRIVIAL and found.error_share > HALF_LEARNED
    ):  # who says little overestimates little
        return CANNOT_TELL, f"{by}, but {_error(found)}"
    if better and found.no_merit:  # it is the puzzle that is easy, so that no run would tell
        return NOT_COMPARABLE, f"{by}, which is no merit of the network"
    return BETTER if better else WORSE, by


def _is_better(row: Row, found: Finding) -> bool:
    """Whether a number lies on the better side of the reported one."""
    return quantity_of(row["quantity"], row["repeated"]).better * (found.value - row["value"]) > 0


RULES: tuple[Callable[[Row, Finding], Verdict | None], ...] = (
    *(_contradicted, _not_judged, _missing, _unlearned, _beyond, _too_wide, _within),
)


def slack_of(row: Row) -> float:
    """By how much ours may differ from a row's number and still be the same, in its unit."""
    quantity = quantity_of(row["quantity"], row["repeated"])
    return max(quantity.absolute, quantity.relative * abs(row["value"]))


def _meets(row: Row, value: float | Fraction) -> bool:
    """Whether a value is the reported one, or meets the bound, or misses it by no more than the tolerance."""
    theirs, relation, slack = row["value"], row["relation"], slack_of(row)
    if relation == "=":
        return _is_same(value, theirs) or abs(value - theirs) <= slack
    above = value + slack if relation.startswith(">") else value - slack
    return {"<": above < theirs, "<=": above <= theirs, ">": above > theirs, ">=": above >= theirs}[relation]


def _is_same(ours: float | Fraction, theirs: float | Fraction) -> bool:
    """Whether two numbers are equal: fractions exactly, others but for rounding."""
    return ours == theirs if isinstance(ours, Fraction) else math.isclose(ours, theirs)
