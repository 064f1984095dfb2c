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

WIDEST = 5.0  # points: half of the interval of a share that can still tell
UNLEARNED = 0.9  # of the mean distance, which is the error of 0 everywhere: such a network has learned nothing
HALF_LEARNED = 0.5  # the same: from there on a network is not better for what it does not overestimate
TRIVIAL = ("admissible_percent", "overestimation_mean", "consistent_percent")  # perfect of a network that says 0
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
    """Admissibility and consistency of a network that learned nothing: zero everywhere has both."""
    if row["quantity"] not in TRIVIAL or not found.error_share > UNLEARNED:
        return None
    return NOT_REACHED, f"{_error(found)}: it has learned nothing"


def _error(found: Finding) -> str:
    return f"the network errs by {100 * found.error_share:.0f} % of the mean distance"


def _too_few(row: Row, found: Finding) -> Verdict | None:
    """The interval of a share is too wide for a verdict."""
    half = (found.high - found.low) / 2
    if not is_share(row["quantity"]) or not half > WIDEST:
        return None
    why = f"the interval is {half:.1f} points to either side"
    worse = "; all of it is worse than the reported number" if is_worse_throughout(row, found) else ""
    return CANNOT_TELL, why + worse


def is_worse_throughout(row: Row, found: Finding) -> bool:
    """Whether both ends of the interval are worse than the reported number, or than the bound, by any amount."""
    better = quantity_of(row["quantity"], row["repeated"]).better
    return all(better * (end - row["value"]) < 0 for end in (found.low, found.high))


def is_by_interval(row: Row, found: Finding) -> bool:
    """Whether ours is the reported number only by its interval, and misses the tolerance."""
    return row["relation"] == "=" and not _is_within(row, found)


def _as_reported(row: Row, found: Finding) -> Verdict | None:
    """Equal, within the tolerance, or the bound holds; or the source's number lies in our interval."""
    theirs, relation, slack = row["value"], row["relation"], slack_of(row)
    if relation != "=":  # a bound has the same tolerance as an equality
        if _holds(found.value, relation, theirs, slack):
            return REPRODUCED, f"{found.value:.6g} {relation} {theirs:.6g}" + (f" ± {slack:.3g}" if slack else "")
        reaches = any(_holds(end, relation, theirs, 0) for end in (found.low, found.high))
        return (CANNOT_TELL, "the bound lies within the interval") if reaches else None
    if found.low <= theirs <= found.high:
        return REPRODUCED, "within the interval"
    if _is_within(row, found):
        return REPRODUCED, f"within {slack:.3g}" if slack else "the same"
    return None


def _differs(row: Row, found: Finding) -> Verdict:
    """Otherwise by which way is better; a fact of the puzzle shows that the source errs."""
    by = f"differs by {float(found.value - row['value']):+.4g}"
    if row["kind"] == FACT:
        return (SOURCE_ERRS, f"{by}, not by chance") if found.fact else (NOT_COMPARABLE, f"{by}, of other instances")
    better = quantity_of(row["quantity"], row["repeated"]).better * (found.value - row["value"]) > 0
    if (
        better and row["quantity"] in TRIVIAL and found.error_share > HALF_LEARNED
    ):  # who says little overestimates little
        return CANNOT_TELL, f"{by}, but {_error(found)}"
    if better and found.no_merit:  # it is the puzzle that is easy
        return CANNOT_TELL, by
    return BETTER if better else WORSE, by


RULES: tuple[Callable[[Row, Finding], Verdict | None], ...] = (
    *(_contradicted, _not_judged, _missing, _unlearned, _too_few, _as_reported, _differs),
)


def slack_of(row: Row) -> float:
    """By how much ours may differ from a row's number and still be the same, in its unit."""
    quantity = quantity_of(row["quantity"], row["repeated"])
    return max(quantity.absolute, quantity.relative * abs(row["value"]))


def _is_within(row: Row, found: Finding) -> bool:
    """Whether ours is the reported number, or differs by no more than the tolerance."""
    return _is_same(found.value, row["value"]) or abs(found.value - row["value"]) <= slack_of(row)


def _is_same(ours: float | Fraction, theirs: float | Fraction) -> bool:
    """Whether two numbers are equal: fractions exactly, others but for rounding."""
    return ours == theirs if isinstance(ours, Fraction) else math.isclose(ours, theirs)


def _holds(value: float, relation: str, bound: float, slack: float) -> bool:
    """Whether a value meets a bound, or misses it by no more than the slack."""
    above = value + slack if relation.startswith(">") else value - slack
    return {"<": above < bound, "<=": above <= bound, ">": above > bound, ">=": above >= bound}[relation]
