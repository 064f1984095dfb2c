"""What README and docs say in numbers is what committed files have; what they show, runs."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from costtogo.heuristics import network
from costtogo.params.training import architecture_of
from costtogo.puzzles import make
from costtogo.report.literature import claims_in_short

README = Path("README.md").read_text(encoding="utf-8")
PAGES = {
    path.name: path.read_text(encoding="utf-8") for path in [Path("README.md"), *sorted(Path("docs").glob("*.md"))]
}
METRICS = Path("reports/default/metrics")
LARGE = ("cube3", "puzzle15", "puzzle24", "puzzle35", "puzzle48", "lights_out_7")
CONSTANTS = (  # what stands in prose and is no measurement: puzzles, settings, versions, counts of documents
    *(r"2×2×2", r"3×3×3", r"\b(8|15|24|35|48)-puzzle", r"H\(10, 3\)", r"λ = 0\.7", r"\bN = [15]\b", r"thesis of 2022"),
    *(r"Python 3\.11", r"puzzle24", r"GF\(2\)", r"\bkill -9\b", r"DeepCubeA"),
)


def scoreboard() -> dict[str, tuple[int, int]]:
    """Claims of the default report that hold and that could be decided, in all and by recipe."""
    told = claims_in_short(
        pd.read_csv("reports/default/reported_vs_reproduced.csv").fillna({"recipe": "", "claim": ""})
    )
    return {"all": (told["held"], told["judged"])} | {
        one["name"]: (one["held"], one["judged"]) for one in told["recipes"]
    }


def measured() -> dict[str, str]:
    """What README should say of our results, by what is said."""
    claims = scoreboard()
    variants = pd.read_csv("data/measured/ablations/variants.csv")
    trainings = len(variants.drop_duplicates(["puzzle", "variant", "seed"]))
    return {
        "claims that hold": "{} of {} are reproduced or better".format(*claims["all"]),
        "of compact networks": "{} of {} by compact networks".format(*claims["compact network"]),
        "of exact recipes": "{} of {} by the thesis's exact recipes".format(*claims["exact recipe"]),
        "trainings of ablations": f"{trainings} further trainings",
    }


def large_row(study: str) -> str:
    """The row of a study in the table of larger puzzles: its longest budget, on all the instances that it searched."""
    row = pd.read_csv(f"reports/{study}/tables/external.csv").iloc[-1]
    known = np.isfinite(row["optimal_length"])
    ends = f"[{row['optimal_percent_low']:.0f}, {row['optimal_percent_high']:.0f}]"
    share = f"{row['optimal_percent']:.1f}".removesuffix(".0")  # not rounded up to all of them
    optimal = f"{share} {ends}" if known else "–"
    optimum = f"{row['optimal_length']:.2f}" if known else "–"
    first = f"| [{study}](reports/{study}/report.md) | {row['seconds_allowed']:g} | {row['first']:.0f} "
    return first + f"| {row['solved_percent']:.0f} | {row['length']:.2f} | {optimum} | {optimal} |"


def prose(text: str) -> str:
    """A page without code, places of links, tables, and what is no measurement; its lines put together."""
    text = text.replace("\\*", "")
    text = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)|^\|.*$|^#.*$", " ", text, flags=re.DOTALL | re.MULTILINE)
    for constant in CONSTANTS:
        text = re.sub(constant, " ", text)
    return " ".join(text.split())


@pytest.mark.parametrize("what", measured())
def test_a_number_of_ours_is_that_of_the_committed_files(what):
    assert measured()[what] in " ".join(README.split()), f"README should say of {what}: {measured()[what]}"


@pytest.mark.parametrize("name", PAGES)
def test_no_other_number_stands_in_a_page(name):
    left = prose(PAGES[name].partition("## Sources")[0])
    for told in measured().values():
        left = left.replace(told, " ")
    assert not re.findall(r"\S*\d\S*", left), "tie it to a committed table in tests/test_readme.py, or leave it out"


@pytest.mark.parametrize("study", LARGE)
def test_a_row_of_the_larger_puzzles_is_the_reports(study):
    assert large_row(study) in README.splitlines(), f"README should have the row {large_row(study)}"


ROWS = re.findall(
    r"^\| `(\w+)` \| ([\d.]+)(?: \[([\d.]+), ([\d.]+)\])? \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|", README, re.M
)


def test_the_key_table_has_every_model_of_the_report():
    assert {row[0] for row in ROWS} == {path.stem for path in METRICS.glob("*.json")}


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_a_row_of_the_key_table_is_the_reports(row):
    found = json.loads((METRICS / f"{row[0]}.json").read_text(encoding="utf-8"))
    names = ("optimal_percent", "optimal_low", "optimal_high")
    places = {name: float(text) for name, text in zip(names, row[1:4], strict=True) if text}
    assert all(value == pytest.approx(found[name], abs=0.005) for name, value in places.items())
    assert len(places) == 3 or "optimal_low" not in found
    nodes = [found[name] for name in ("nodes_expanded", "exact_nodes_expanded", "zero_nodes_expanded")]
    assert [text.replace(",", "") for text in row[4:]] == [f"{value:.0f}" for value in nodes]


def test_the_networks_of_the_thesis_stand_beside_numbers_that_it_has():
    """The last column: the least and the most of what the thesis reports of the same network."""
    reported = pd.read_csv("data/reported/thesis.csv")
    for model, text in re.findall(
        r"^\| `(\w+)` \|.*\| ([\d.,]+(?: – [\d.,]+)?) (?:% optimal|expanded)[^|]*\|$", README, re.M
    ):
        values = set(reported.loc[reported["model"] == model, "value"].round(1))
        ends = [float(end.replace(",", "")) for end in text.split(" – ")]
        assert all(any(abs(end - value) <= 0.06 for value in values) for end in ends), (model, text)


@pytest.mark.parametrize("name", PAGES)
def test_every_file_that_a_page_links_is_there(name):
    folder = Path() if name == "README.md" else Path("docs")
    for link in set(re.findall(r"\]\((?!https?:|#)([^)#]+)", PAGES[name])):
        assert (folder / link).exists(), link


def test_paragraphs_are_short_and_so_is_the_page():
    assert len(README.splitlines()) <= 150
    text = re.sub(r"```.*?```", "", README, flags=re.DOTALL)
    assert all(len(part.splitlines()) <= 6 for part in text.split("\n\n") if not part.startswith(("|", "- ")))


def test_the_example_in_python_runs(tmp_path, capsys):
    """With a network that nobody trained in place of the default study's."""
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    puzzle, architecture = make("cube2"), architecture_of(kind="residual", first_layers=[8], residual_blocks=0)
    torch.manual_seed(1)
    value = network.build(architecture, puzzle, 1)
    network.save(tmp_path / "net.safetensors", value, {"puzzle": "cube2", "precision": "float32", "iteration": 1})
    example, count = re.subn(r"results/\S+\.safetensors", str(tmp_path / "net.safetensors"), example)
    exec(example.replace("path_weight=0.7", "path_weight=1.0"), {})
    costs, found = capsys.readouterr().out.splitlines()
    assert count == 1 and costs.startswith("[") and found.startswith("[6.]") and len(found.split()) == 7
