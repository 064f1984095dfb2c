"""The literature's numbers beside ours as parts of the report: counts, tables, what disagrees and why, slips.

Two templates: repeated, on the thesis where its recipes are repeated, and documents, on all else.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

from costtogo.analysis.listings import Replay
from costtogo.analysis.literature import DOCUMENTS
from costtogo.puzzles import family
from costtogo.report.markdown import Format, amount, code, is_missing, short, table
from costtogo.report.quantities import THESIS, TIMES, form_of, quantity_of
from costtogo.report.render import render
from costtogo.report.results import StudyResults
from costtogo.report.verdicts import NOT_COVERED, SHORT, VERDICTS

POINTS = "convergence_point_iteration"  # shown as one list a model
RECIPES = {"thesis": "reported", "exact recipe": "reproduced_thesis", "compact": "reproduced_default"}
TITLE = "Reported and reproduced"
ALIKE = ["source", "section", "quantity", "model", "iteration", "path_weight", "batch_size", "set", "unit"]


def counts(head: list[str], groups: Iterable[tuple[str, pd.Series]]) -> str:
    """How many verdicts of each kind there are, a row a group of them."""
    rows = []
    for name, verdicts in groups:
        found = verdicts.value_counts()
        rows.append([name, amount(len(verdicts)), *(amount(found.get(verdict, 0)) for verdict in VERDICTS)])
    return table([*head, *VERDICTS], rows)


def where_text(row: dict[str, Any]) -> str:
    """The checkpoint, set, λ, N and distance that a row names.  -> "iteration 795 (point 11), grid, λ = 0.7, N = 5"."""
    parts = []
    if not is_missing(row["iteration"]):
        point = "" if is_missing(row["point"]) else f" (point {row['point']:.0f})"
        parts.append(f"iteration {amount(row['iteration'])}{point}")
    if isinstance(row["set"], str):
        parts.append(row["set"])
    if isinstance(row["model"], str) and family(row["puzzle"]) == "hanoi":
        parts.append(row["puzzle"])
    signs = {"path_weight": "λ = ", "batch_size": "N = ", "distance": "distance "}
    parts += [f"{sign}{short(float(row[name]))}" for name, sign in signs.items() if not is_missing(row[name])]
    return ", ".join(parts)


def related(row: dict[str, Any] | pd.Series, form: Format) -> str:
    """The literature's number with its relation.  -> "> 96.4", "99"."""
    return ("" if row["relation"] == "=" else f"{row['relation']} ") + form(row["reported"])


# The thesis, where its recipes are repeated


def repeated(comparison: pd.DataFrame, listings: dict[float, Replay]) -> str:
    """The part on the thesis.  comparison: in the columns BY_RECIPE of costtogo.report.verdicts."""
    groups = [(section, rows["verdict"]) for section, rows in comparison.groupby("section", sort=False)]
    groups += [("**all**", comparison["verdict"]), ("all, by the compact networks", comparison["verdict_default"])]
    ran = comparison[comparison["quantity"] == "convergence_points"].groupby("model", sort=False)["reproduced_thesis"]
    sections = comparison.groupby("section", sort=False)
    slips = comparison[comparison["erratum"].notna()].groupby(["section", "erratum"], sort=False)
    return render(
        "repeated",
        counts=counts(["section", "numbers"], groups),
        tolerances=[f"{quantity.title} ± {quantity.tolerance}" for quantity in THESIS.values() if quantity.tolerance],
        waiting=[model for model, values in ran if values.isna().all()],
        sections={section: [points_table(rows), repeated_table(rows)] for section, rows in sections},
        fallen=list(_fallen(comparison)),
        slips=[_slip(rows) for _, rows in slips],
        listings=listings,
    )


def repeated_table(rows: pd.DataFrame) -> str:
    """A row for each number but those of the list of convergence points, empty where there is none."""
    header = ["model", "where", "quantity", "thesis", "exact recipe", "compact", "all states", "verdict"]
    lines = [_repeated_line(row) for row in rows.to_dict("records") if row["quantity"] != POINTS]
    return table(header, lines) if lines else ""


def _repeated_line(row: dict[str, Any]) -> list[str]:
    form = form_of(row["quantity"], thesis=True)
    ours = [form(row[name]) for name in ("reproduced_thesis", "reproduced_default", "exhaustive")]
    unit = f" {row['unit']}" if row["quantity"] in TIMES and row["quantity"] in THESIS else ""
    name = code(row["model"]) if isinstance(row["model"], str) else row["puzzle"]
    return [name, where_text(row), _title(row), related(row, form) + unit, *ours, row["verdict"]]


def points_table(rows: pd.DataFrame) -> str:
    """The iterations of convergence points, a list a model and recipe; empty where there is none."""
    lines = []
    for model, group in rows[rows["quantity"] == POINTS].groupby("model", sort=False):
        lists = {name: [amount(value) for value in group[column]] for name, column in RECIPES.items()}
        told = {name: values for name, values in lists.items() if set(values) != {"–"}}
        lines += [[code(model) if name == "thesis" else "", name, ", ".join(values)] for name, values in told.items()]
    return table(["model", "", "iterations"], lines) if lines else ""


def _fallen(comparison: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Of each quantity of a section that falls short somewhere how often, and the number that does most."""
    alike = comparison.groupby(["section", "quantity"]).size()
    for of, rows in comparison[comparison["verdict"] == SHORT].groupby(["section", "quantity"], sort=False):
        ours = rows["reproduced_thesis"].fillna(rows["reproduced_default"])
        worst = (ours - rows["reported"]).abs().idxmax()
        row, form = rows.loc[worst].to_dict(), form_of(of[1], thesis=True)
        told = {"title": _title(row), "count": len(rows), "of": alike[of], "models": rows["model"].dropna().unique()}
        told |= {"ours": form(ours[worst]), "theirs": related(row, form), "where": where_text(row) or row["puzzle"]}
        yield row | told


def _slip(rows: pd.DataFrame) -> dict[str, Any]:
    """An erratum, and the numbers that it is about."""
    row, numbers = rows.iloc[0].to_dict(), dict.fromkeys(f"{value:g}" for value in rows["reported"])
    return row | {"title": _title(row), "numbers": " and ".join(numbers)}


def _title(row: dict[str, Any], thesis: bool = True) -> str:
    return quantity_of(row["quantity"], thesis).title


# All other documents


def documents(comparison: pd.DataFrame, title: str = TITLE, walks: bool = False, beams: bool = False) -> str:
    """The part on these documents.  comparison: in the columns ALONE of costtogo.report.verdicts.

    walks, beams: what explanations returns.
    """
    sources = list(comparison.groupby("source", sort=False))
    groups = [(DOCUMENTS[source], rows["verdict"]) for source, rows in sources] + [("**all**", comparison["verdict"])]
    covered = comparison[comparison["verdict"] != NOT_COVERED].groupby("source", sort=False)
    left_out = comparison.loc[comparison["verdict"] == NOT_COVERED, "note"]
    reasons = left_out.str.replace(r"; erratum: .*|; ours is .*|.*(?=a setting, not a result)", "", regex=True)
    fallen = comparison[comparison["verdict"] == SHORT].groupby(ALIKE, sort=False, dropna=False)
    slips = comparison[comparison["erratum"].notna()].to_dict("records")
    text = render(
        "documents",
        title=title,
        documents=DOCUMENTS,
        count=len(sources),
        counts=counts(["document", "numbers"], groups),
        sections={DOCUMENTS[source]: documents_table(rows) for source, rows in covered},
        fallen=[_falls_short(rows) for _, rows in fallen],
        walks=walks,
        beams=beams,
        reasons=[[reason, amount(count)] for reason, count in reasons.value_counts().items()],
        slips=[row | {"number": f"{_title(row, False)} {form_of(row['quantity'])(row['reported'])}"} for row in slips],
    )
    return text if slips or not sources else f"{text}\n"


def documents_table(rows: pd.DataFrame) -> str:
    """A row for each number, and one for all that differ in their distance alone."""
    lines = [_line_of(group) for _, group in rows.groupby(ALIKE, sort=False, dropna=False)]
    return table(["model", "where", "quantity", "reported", "ours", "verdict"], lines)


def _line_of(group: pd.DataFrame) -> list[str]:
    row, distances, form = group.iloc[0].to_dict(), group["distance"], form_of(group["quantity"].iloc[0])
    several = len(group) > 1 and distances.notna().all()
    where = where_text(row | {"distance": None} if several else row)
    where += f", distances {distances.min():.0f} to {distances.max():.0f}" if several else ""
    unit = f" {row['unit']}" if row["quantity"] in TIMES else ""
    theirs = [
        ("" if relation == "=" else f"{relation} ") + _range(numbers["reported"], form) + unit
        for relation, numbers in group.groupby("relation", sort=False)
    ]
    counted = group["verdict"].value_counts(sort=False)
    verdict = ", ".join(f"{count} {name}" for name, count in counted.items()) if len(group) > 1 else row["verdict"]
    name = code(row["model"]) if isinstance(row["model"], str) else "–"
    ours = _range(group["reproduced"], form)
    return [name, where or "–", _title(row, False), " and ".join(theirs), ours, verdict]


def _range(values: pd.Series, form: Format) -> str:
    """A value, or the least and the greatest of several."""
    low, high = form(values.min()), form(values.max())
    return low if low == high else f"{low} … {high}"


def _falls_short(rows: pd.DataFrame) -> dict[str, Any]:
    """What fell short and by how much; the numbers of one quantity with the same terms once."""
    row = rows.iloc[0].to_dict()
    *what, by = row["note"].split("; erratum: ")[0].split("; ")
    return row | {"title": _title(row, False), "count": len(rows), "what": "; ".join(what), "by": by}


def explanations(results: StudyResults) -> dict[str, bool]:
    """What the study does that explains where it falls short: whether it learns walks, and searches by beams."""
    asked = results.asked
    return {
        "walks": any(results.model(name).trainer == "random_walk" for name in results.model_names),
        "beams": asked.external is None or asked.external.budgets[-1].solver == "beam",
    }
