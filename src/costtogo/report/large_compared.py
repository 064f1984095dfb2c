"""The literature's numbers on a large puzzle beside ours as a part of the report: counts, tables, reasons, slips."""

from collections.abc import Callable, Iterator

import pandas as pd

from costtogo.analysis.literature import DOCUMENTS
from costtogo.report.compared import where_text
from costtogo.report.markdown import amount, table
from costtogo.report.quantities import TIMES, form_of, quantity_of
from costtogo.report.results import StudyResults
from costtogo.report.verdicts import NOT_COVERED, SHORT, VERDICTS

ALIKE = ["source", "section", "quantity", "model", "iteration", "path_weight", "batch_size", "set", "unit"]
WALKS = " Random-walk regression learns the mean length of walks, which are longer than the distance."
BEAMS = " A beam expands its whole width in every layer; while there is time, wider beams and other images follow."
TOO_HIGH = ("consistent_percent", "admissible_percent", "admissible_within_one_percent", "overestimation_mean")
NODES = ("nodes_expanded", "nodes_expanded_most", "nodes_generated")
COUNTS = {1: "one", 2: "two", 3: "three", 4: "four"}
HEADER = ["model", "where", "quantity", "reported", "ours", "verdict"]


def explanations(results: StudyResults) -> dict[str, str]:
    """Why the study falls short in a quantity, by its name: of what it does, not of what it might."""
    found = {}
    if any(results.model(name).trainer == "random_walk" for name in results.model_names):
        found |= dict.fromkeys(TOO_HIGH, WALKS)
    if results.asked.external is None or results.asked.external.budgets[-1].solver == "beam":
        found |= dict.fromkeys(NODES, BEAMS)
    return found


def compared(comparison: pd.DataFrame, why: dict[str, str], title: str = "Reported and reproduced") -> Iterator[str]:
    """The section of the report; comparison as large_comparison.compare returns it, why as explanations does."""
    yield f"## {title}\n"
    if comparison.empty:
        yield "The literature in data/reported has no number on this puzzle.\n"
        return
    count = comparison["source"].nunique()
    documents = f"{COUNTS.get(count, count)} document{'s' if count > 1 else ''}"
    yield (
        f"Every number of {documents} on this puzzle; [reported_vs_reproduced.csv](reported_vs_reproduced.csv) has"
        " each with its interval, note and file. A number *agrees* when the literature's lies in our 95 % interval or"
        " within the tolerance of the default study, when a bound holds, or when a setting is the same; otherwise it"
        " *beats* the literature's or falls *short* of it by which way is better; where neither way is better, a"
        " difference counts as short. Budgets, solvers and test sets differ; the notes say how. A setting of another"
        " value is told, not judged, and counts as not covered.\n"
    )
    rows = [[DOCUMENTS[source], *_counts(group)] for source, group in comparison.groupby("source", sort=False)]
    yield table(["document", "numbers", *VERDICTS], [*rows, ["**all**", *_counts(comparison)]])
    for source, group in comparison[comparison["verdict"] != NOT_COVERED].groupby("source", sort=False):
        yield f"### {DOCUMENTS[source][0].upper()}{DOCUMENTS[source][1:]}\n"
        yield rows_table(group)
    yield "### Where ours falls short\n"
    yield from _fallen(comparison[comparison["verdict"] == SHORT], why)
    yield "### Why numbers are not covered\n"
    yield _reasons(comparison[comparison["verdict"] == NOT_COVERED])
    slips = comparison[comparison["erratum"].notna()]
    if len(slips):
        yield "### Slips in the documents\n"
    for row in slips.to_dict("records"):
        number = f"{_title(row)} {form_of(row['quantity'])(row['reported'])}"
        yield f"- {DOCUMENTS[row['source']]}, {row['section']}, {number}: {row['erratum']}"
    yield ""


def _counts(rows: pd.DataFrame) -> list[str]:
    found = rows["verdict"].value_counts()
    return [amount(len(rows)), *(amount(found.get(verdict, 0)) for verdict in VERDICTS)]


def rows_table(rows: pd.DataFrame) -> str:
    """A row for each number, and one for all that differ in their distance alone."""
    return table(HEADER, [_line(group) for _, group in rows.groupby(ALIKE, sort=False, dropna=False)])


def _line(group: pd.DataFrame) -> list[str]:
    first, distances = group.iloc[0].to_dict(), group["distance"]
    form = form_of(first["quantity"])
    where = where_text(first | {"distance": None} if len(group) > 1 and distances.notna().all() else first)
    if len(group) > 1 and distances.notna().all():
        where = f"{where}, distances {distances.min():.0f} to {distances.max():.0f}"
    unit = f" {first['unit']}" if first["quantity"] in TIMES else ""
    relations = dict.fromkeys("" if relation == "=" else f"{relation} " for relation in group["relation"])
    theirs = " and ".join(
        relation + _range(group.loc[group["relation"] == (relation.strip() or "="), "reported"], form) + unit
        for relation in relations
    )
    verdicts = group["verdict"].value_counts(sort=False)
    verdict = ", ".join(f"{count} {name}" for name, count in verdicts.items()) if len(group) > 1 else first["verdict"]
    name = f"`{first['model']}`" if isinstance(first["model"], str) else "–"
    return [name, where or "–", _title(first), theirs, _range(group["reproduced"], form), verdict]


def _range(values: pd.Series, form: Callable[[float], str]) -> str:
    """A value, or the least and the greatest of several."""
    low, high = form(values.min()), form(values.max())
    return low if low == high else f"{low} … {high}"


def _title(row: dict) -> str:
    return quantity_of(row["quantity"]).title


def _fallen(rows: pd.DataFrame, why: dict[str, str]) -> Iterator[str]:
    """What fell short and by how much; the numbers of one quantity with the same terms once."""
    if rows.empty:
        yield "Nowhere.\n"
        return
    for _, group in rows.groupby(ALIKE, sort=False, dropna=False):
        row = group.iloc[0].to_dict()
        many = f" ({len(group)} numbers)" if len(group) > 1 else ""
        *what, by = row["note"].split("; erratum: ")[0].split("; ")
        by = f", {by}" if not many else ""
        model = f" of `{row['model']}`" if isinstance(row["model"], str) else ""
        line = f"- {DOCUMENTS[row['source']]}, {row['section']}, {_title(row)}{model}{many}: {'; '.join(what)}{by}."
        yield f"{line}{why.get(row['quantity'], '')}"
    yield ""


def _reasons(rows: pd.DataFrame) -> str:
    """How many numbers are not covered for each reason."""
    reasons = rows["note"].str.replace(r"; erratum: .*|; ours is .*|.*(?=a setting, not a result)", "", regex=True)
    return table(["reason", "numbers"], ([reason, amount(count)] for reason, count in reasons.value_counts().items()))
