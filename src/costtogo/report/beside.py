"""The literature's numbers with ours as parts of the report: scoreboard, rules, tables, what is worse and why, slips.

They come in two kinds: `repeated`, for the thesis where its recipes are repeated, and `documents`, for all else. Each
has a part with all numbers, and one with the differences: where ours is worse, and slips.
"""

from collections import Counter
from typing import Any

import pandas as pd
from pandas.api.typing import DataFrameGroupBy

from costtogo.analysis.numbers import Format, amount, is_missing, short
from costtogo.literature import verdicts
from costtogo.literature.answers import local_vi
from costtogo.literature.answers.sampled_searches import NEARLY_ALL
from costtogo.literature.claims import claims, claims_judged, scoreboard
from costtogo.literature.comparison import joined
from costtogo.literature.counterparts import COMPACT, EXACT
from costtogo.literature.listings import Replay
from costtogo.literature.power import power
from costtogo.literature.quantities import OTHERS, THESIS, TIMES, Quantity, form_of, quantity_of
from costtogo.literature.reported import DOCUMENTS
from costtogo.literature.words import COST, DECIDED, FACT, HELD, NOT_JUDGED, NOT_REACHED, VERDICTS, WORSE
from costtogo.puzzles import family
from costtogo.report.markdown import code, table
from costtogo.report.render import render
from costtogo.tables.results import StudyResults

POINTS = "convergence_point_iteration"  # shown as one list a model
ALIKE = ["source", "section", "quantity", "model", "iteration", "path_weight", "batch_size", "set", "unit"]
ABOUT = 4  # quantities that a sentence names
RECIPES = {EXACT: "exact recipe", COMPACT: "compact network", "ours": "our own recipe", "": "no training"}


def scoreboard_text(comparison: pd.DataFrame) -> str:
    """How many claims of each document have which verdict, results by recipe and apart from facts."""
    counted = scoreboard(comparison)
    words = [word for word in VERDICTS if word != NOT_JUDGED and counted[word].any()]
    lines = [
        [f"{DOCUMENTS[row['source']]}, {row['of']}", RECIPES[row["recipe"]], amount(row["claims"])]
        + [amount(row[word]) if row[word] else "" for word in words]
        for row in counted.to_dict("records")
    ]
    return table(["", "ours from", "claims", *words], lines)


def whole_scoreboard_text(comparison: pd.DataFrame) -> str:
    """The claims of all documents in one table, with what holds and what does not in a column each."""
    left = [word for word in VERDICTS if word not in (*HELD, NOT_JUDGED)]
    counted = scoreboard(comparison)
    held = counted.assign(held=counted[[*HELD]].sum(axis=1))
    lines = [
        [f"{DOCUMENTS[row['source']]}, {row['of']}", RECIPES[row["recipe"]]]
        + [amount(number) if number else "" for number in (row["claims"], row["held"], row["without"])]
        + [amount(row[word]) if row[word] else "" for word in left]
        for row in held.to_dict("records")
    ]
    return table(["", "ours from", "claims", "hold", "also without a heuristic", *left], lines)


def claims_in_short(comparison: pd.DataFrame) -> dict[str, Any]:
    """How many of the claims about results that could be decided hold, in all and by recipe, and the scoreboard.

    Also how many of those that hold do so without any heuristic, by their interval alone, or rest on a single training.
    """
    counted = scoreboard(comparison)
    results = counted[counted["of"] == "results"].groupby("recipe", sort=False)[[*DECIDED]].sum()
    held, judged = results[[*HELD]].sum(axis=1), results.sum(axis=1)
    recipes = [
        {"name": RECIPES[recipe], "held": held[recipe], "judged": judged[recipe]}
        for recipe in results.index[judged > 0]
    ]
    of_results = claims_judged(comparison)
    of_results = of_results[of_results["kind"] != FACT]
    sums = {
        "held": held.sum(),
        "judged": judged.sum(),
        "recipes": recipes,
        "without": counted.loc[counted["of"] == "results", "without"].sum(),
        "alone": (of_results["verdict"].isin(HELD) & of_results["alone"]).sum(),
        "by_interval": (of_results["verdict"].isin(HELD) & of_results["by_interval"]).sum(),
    }
    return sums | {"scoreboard": scoreboard_text(comparison), "numbers": len(comparison)}


def unmet(comparison: pd.DataFrame) -> str:
    """A finding: how many claims about results are worse or not reached, by what they are about; empty for none."""
    rows = comparison[~comparison["kind"].isin([COST, FACT]) & comparison["quantity"].isin(OTHERS)]
    fallen = claims(rows.reset_index(drop=True))
    fallen = fallen[fallen["verdict"].isin([WORSE, NOT_REACHED])]
    titles = [quantity_of(row.quantity, row.source == "thesis").title for row in fallen.itertuples()]
    first = Counter(titles).most_common(ABOUT)
    others = len(titles) - sum(count for _, count in first)
    return render("finding_unmet", count=len(titles), first=first, others=others) if titles else ""


def rules_text(comparison: pd.DataFrame) -> str:
    """The rules of the verdicts, with the numbers that they go by and the tolerances of the quantities compared."""
    judged = comparison[comparison["kind"].isin(["result", "claim", "fact"]) & comparison["quantity"].isin(OTHERS)]
    tolerant, matters = {}, {}
    for name, is_thesis in judged[["quantity", "source"]].drop_duplicates().itertuples(index=False):
        quantity = quantity_of(name, is_thesis == "thesis")
        if quantity.tolerance:
            tolerant[quantity.title] = quantity.tolerance
        if quantity.matters != Quantity._field_defaults["matters"]:
            matters[quantity.title] = quantity.matters
    limits = {
        "widest": verdicts.WIDEST,
        "matters": [(title, 100 * part) for title, part in sorted(matters.items())],
        "otherwise": 100 * Quantity._field_defaults["matters"],
        "enough": verdicts.ENOUGH,
        "power": power_table(),
        "unlearned": 100 * verdicts.UNLEARNED,
        "half_learned": 100 * verdicts.HALF_LEARNED,
        "nearly_all": 100 * NEARLY_ALL,
        "local_vi": (comparison["source"] == "local_value_iteration").any(),
        "deviations": local_vi.DEVIATIONS,
        "rare": round(1 / local_vi.RARE),
    }
    return render("rules", tolerances=tolerant, **limits)


def power_table() -> str:
    """What the rules can tell of made-up trainings, in points of a share, by seeds and by how trainings differ."""
    heads = ["seeds", "standard deviation of trainings", "as good: reproduced", "worse, wrongly"]
    heads += ["behind by what matters: worse", "reproduced, wrongly", "by twice as much: worse"]
    lines = [
        [amount(row.seeds), f"{row.spread:g}", *(f"{share:.0f} %" for share in shares)]
        for row in power()
        for shares in [(row.reproduced[0], row.worse[0], row.worse[1], row.reproduced[1], row.worse[2])]
    ]
    return table(heads, lines)


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


# The numbers


def repeated(comparison: pd.DataFrame, estimated: bool, thresholds: dict[str, float], exact: bool) -> str:
    """The thesis's numbers where its recipes are repeated, section by section.

    comparison: as costtogo.literature.comparison.compare returns it.  estimated: whether timings.md has how long exact
    recipes would take that have not been run.  thresholds: by model, the share of optimal solutions, %, that the
    checkpoints of an exact recipe had to have which the one that searches use was chosen from.  exact: whether the
    kept exact recipes are shown in the study.
    """
    ran = comparison[comparison["quantity"] == "convergence_points"].groupby("model", sort=False)["recipe"]
    sections = comparison.groupby("section", sort=False)
    return render(
        "repeated",
        estimated=estimated,
        thresholds=thresholds,
        exact=exact,
        waiting=[model for model, recipes in ran if EXACT not in set(recipes)],
        sections={section: [points_table(rows), numbers_table(rows, repeated=True)] for section, rows in sections},
    )


def documents(comparison: pd.DataFrame, title: str) -> str:
    """The numbers of all other documents, below a title; empty where there is none."""
    compared = comparison[comparison["reproduced"].notna()].groupby("source", sort=False)
    sections = {DOCUMENTS[source]: numbers_table(rows) for source, rows in compared}
    count = comparison["source"].nunique()
    return render("documents", title=title, count=count, sections=sections) if count else ""


def numbers_table(rows: pd.DataFrame, repeated: bool = False) -> str:
    """The reported numbers and ours, empty without rows.

    repeated: a row for each number, with a column for each recipe, without the list of convergence points; else one row
    for all numbers that differ in their distance alone, with one column of ours.
    """
    if repeated:
        groups = [rows.loc[[place]] for place in rows.index[rows["quantity"] != POINTS]]
        headings = ["thesis", "exact recipe", "compact", "all states"]
    else:
        groups = [group for _, group in rows.groupby(ALIKE, sort=False, dropna=False)]
        headings = ["reported", "ours"]
    lines = [_line_of(group, repeated) for group in groups]
    return table(["model", "where", "quantity", *headings, "verdict"], lines) if lines else ""


def _line_of(group: pd.DataFrame, repeated: bool) -> list[str]:
    """A row of the table: of one number, or of several that differ in their distance."""
    row, distances = group.iloc[0].to_dict(), group["distance"]
    form, missing = form_of(row["quantity"], repeated), row["puzzle"] if repeated else "–"
    several = len(group) > 1 and distances.notna().all()
    where = where_text(row | {"distance": None} if several else row)
    where += f", distances {distances.min():.0f} to {distances.max():.0f}" if several else ""
    unit = f" {row['unit']}" if row["quantity"] in TIMES and (row["quantity"] in THESIS or not repeated) else ""
    theirs = [
        ("" if relation == "=" else f"{relation} ") + _range(numbers["reported"], form) + unit
        for relation, numbers in group.groupby("relation", sort=False)
    ]
    ours = [_range(values, form) for values in (_of_recipes(group) if repeated else [group["reproduced"]])]
    counted = group["verdict"].value_counts(sort=False)
    verdict = ", ".join(f"{count} {name}" for name, count in counted.items()) if len(group) > 1 else row["verdict"]
    name = code(row["model"]) if isinstance(row["model"], str) else missing
    return [name, where if repeated else where or "–", _title(row, repeated), " and ".join(theirs), *ours, verdict]


def _of_recipes(rows: pd.DataFrame) -> list[pd.Series]:
    """Ours by the exact recipe, by the compact network, and over all states."""
    exact, compact = rows["reproduced"].where(rows["recipe"] != COMPACT), rows["compact"].where(rows["recipe"] != "")
    return [exact, compact, rows["exhaustive"]]


def _range(values: pd.Series, form: Format) -> str:
    """A value, or the least and the greatest of several; a dash where there is none."""
    if values.isna().all():
        return "–"
    low, high = form(values.min()), form(values.max())
    return low if low == high else f"{low} … {high}"


def points_table(rows: pd.DataFrame) -> str:
    """The iterations of convergence points, a list a model and recipe; empty where there is none."""
    lines = []
    for model, group in rows[rows["quantity"] == POINTS].groupby("model", sort=False):
        exact = group["reproduced"].where(group["recipe"] == EXACT)
        lists = {"thesis": group["reported"], "exact recipe": exact, "compact": group["compact"]}
        told = {name: list(map(amount, values)) for name, values in lists.items() if values.notna().any()}
        lines += [[code(model) if name == "thesis" else "", name, ", ".join(values)] for name, values in told.items()]
    return table(["model", "", "iterations"], lines) if lines else ""


# Where ours is worse, where there is none, and slips


def repeated_differences(comparison: pd.DataFrame, listings: dict[float, Replay], price: pd.DataFrame) -> str:
    """Where ours is worse than the thesis, runs that would decide the undecided numbers, and the thesis's slips."""
    slips = comparison[comparison["erratum"].notna()].groupby(["section", "erratum"], sort=False)
    counts = comparison.groupby(["section", "quantity"]).size()
    worse = [_farthest(rows, counts[of]) for of, rows in _fallen(comparison, ["section", "quantity"])]
    parts = {"worse": worse, "slips": [_slip(rows) for _, rows in slips], "listings": listings}
    return render("repeated_differences", **parts, price=price, enough=verdicts.ENOUGH)


def documents_differences(comparison: pd.DataFrame, title: str, walks: bool = False, beams: bool = False) -> str:
    """Where ours is worse, where there is none, and slips.  walks, beams: what explanations returns."""
    if comparison.empty:
        return ""
    left_out = comparison[comparison["reproduced"].isna()]
    reasons = [joined(*parts) for parts in zip(left_out["said"], left_out["why"], strict=True)]
    counted = pd.DataFrame({"verdict": left_out["verdict"], "reason": reasons}).value_counts()
    slips = comparison[comparison["erratum"].notna()].to_dict("records")
    return render(
        "documents_differences",
        title=title,
        documents=DOCUMENTS,
        worse=[_first(rows) for _, rows in _fallen(comparison, ALIKE)],
        walks=walks,
        beams=beams,
        reasons=[[reason, verdict, amount(count)] for (verdict, reason), count in counted.items()],
        slips=[row | {"number": f"{_title(row, False)} {form_of(row['quantity'])(row['reported'])}"} for row in slips],
    )


def _fallen(comparison: pd.DataFrame, by: list[str]) -> DataFrameGroupBy:
    """The numbers that are worse or were not reached, in groups."""
    fallen = comparison[comparison["verdict"].isin([WORSE, NOT_REACHED])]
    return fallen.groupby(by, sort=False, dropna=False)


def _first(rows: pd.DataFrame) -> dict[str, Any]:
    """The first number of such a group, and how many there are."""
    row = rows.iloc[0].to_dict()
    return row | {"title": _title(row, False), "count": len(rows)}


def _farthest(rows: pd.DataFrame, of: int) -> dict[str, Any]:
    """The number of such a group that is farthest off, with the models that have one.  of: how many were compared."""
    apart = (rows["reproduced"] - rows["reported"]).abs().where(rows["verdict"] == WORSE)
    row = rows.loc[apart.idxmax() if apart.notna().any() else rows.index[0]].to_dict()
    form = form_of(row["quantity"], thesis=True)
    ours = form(row["reproduced"]) if row["verdict"] == WORSE else None
    numbers = {"ours": ours, "theirs": related(row, form), "where": where_text(row) or row["puzzle"]}
    counts = {"count": len(rows), "of": of, "models": rows["model"].dropna().unique()}
    return row | numbers | counts | {"title": _title(row)}


def _slip(rows: pd.DataFrame) -> dict[str, Any]:
    """An erratum, and the numbers that it is about."""
    row, numbers = rows.iloc[0].to_dict(), dict.fromkeys(f"{value:g}" for value in rows["reported"])
    return row | {"title": _title(row), "numbers": " and ".join(numbers)}


def _title(row: dict[str, Any], thesis: bool = True) -> str:
    return quantity_of(row["quantity"], thesis).title


def explanations(results: StudyResults) -> dict[str, bool]:
    """What the study does that explains where it falls short: whether it learns walks, and searches by beams."""
    asked = results.asked
    return {
        "walks": any(results.model(name).trainer == "random_walk" for name in results.model_names),
        "beams": asked.external is None or asked.external.budgets[-1].solver == "beam",
    }
