"""What README says in numbers is what the committed report has."""

import json
import re
from pathlib import Path

import pytest

TEXT = Path("README.md").read_text(encoding="utf-8")
ROWS = re.findall(
    r"^\| `(\w+)` \| ([\d.]+)(?: \[([\d.]+), ([\d.]+)\])? \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|", TEXT, re.M
)
METRICS = Path("reports/default/metrics")


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


def test_every_file_that_it_links_is_there():
    for link in set(re.findall(r"\]\((?!https?:|#)([^)#]+)", TEXT)):
        assert Path(link).exists(), link
