"""The page over all documents: it counts what the reports say, and says what is missing."""

import shutil
from pathlib import Path

import pandas as pd
import pytest

from costtogo.files import read_csv
from costtogo.literature.claims import MARKS, NUMBER
from costtogo.literature.reported import DOCUMENTS
from costtogo.params.base import TrainingName
from costtogo.params.loading import load
from costtogo.report.overview import SYSTEMS, write_overview
from costtogo.tables.kept import MEASURED, cards_kept
from costtogo.types import UserError


@pytest.fixture
def reports(tmp_path):
    """Two reports: one with claims of the thesis, one whose verdicts are of an earlier kind."""
    rows = {"source": "thesis", "kind": ["result", "result", "setting"], "claim": "", "recipe": ["exact", "", "exact"]}
    rows |= {"seeds": 1, "verdict": ["reproduced", "not run", "not judged"], "quantity": "length"}
    rows |= dict.fromkeys(MARKS, "")
    rows = dict.fromkeys(NUMBER, "") | rows | {"reported": [1.0, 2.0, 3.0]}
    for name, frame in {"default": pd.DataFrame(rows), "cube3": pd.DataFrame({"verdict": ["agrees"]})}.items():
        folder = tmp_path / "published" / name
        folder.mkdir(parents=True)
        (folder / "report.md").write_text("# A report\n")
        frame.to_csv(folder / "reported_vs_reproduced.csv", index=False)
    return tmp_path


def test_every_document_has_its_systems_and_the_claims_of_the_studies_that_repeat_them(reports):
    text = write_overview(reports).read_text()
    assert text.count("\n## ") == len(DOCUMENTS)
    thesis = text.partition("## Thesis")[2].partition("\n## ")[0]
    assert "| thesis, results | exact recipe | 1 | 1 |  |" in thesis and "| no training | 1 |  | 1 |" in thesis
    assert "[default](published/default/report.md)" in thesis and "`thesis`; six of thirteen" in thesis
    assert text.rstrip().endswith("`cube3`.") and "The page that solves: `costtogo serve`, on your own machine." in text
    assert write_overview(reports).read_text() == text


def test_the_first_table_counts_each_claim_once_over_all_studies(reports):
    other = reports / "published" / "cube3-trainers"
    shutil.copytree(reports / "published" / "default", other)
    rows = pd.read_csv(other / "reported_vs_reproduced.csv")
    rows["verdict"] = ["worse", "better", "not judged"]
    rows["no_merit"] = ["", "yes", ""]
    rows.to_csv(other / "reported_vs_reproduced.csv", index=False)
    lines = write_overview(reports).read_text().splitlines()
    whole = [line.replace(" ", "") for line in lines[: lines.index("## Thesis")] if line.startswith("| thesis")]
    assert whole == ["|thesis,results|exactrecipe|1|1||||||||", "|thesis,results|notraining|1|1|1|||||||"]


def test_a_damaged_table_of_verdicts_is_named(reports):
    path = reports / "published" / "default" / "reported_vs_reproduced.csv"
    path.write_text(path.read_text().replace("not run", "not r"), encoding="utf-8")
    with pytest.raises(UserError, match="is damaged: costtogo report default writes it again"):
        write_overview(reports)


def test_claims_are_not_counted_again_in_studies_that_repeat_another_document(reports):
    shutil.copytree(reports / "published" / "default", reports / "published" / "deepcube")
    text = write_overview(reports).read_text()
    assert "[deepcube](published/deepcube/report.md)" in text and "In [deepcube]" not in text


def test_a_folder_that_is_not_there_is_not_made(tmp_path):
    with pytest.raises(UserError, match="no folder"):
        write_overview(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


def test_every_system_is_of_a_document_and_is_repeated_by_a_study_that_there_is_or_says_why_not():
    systems = read_csv(SYSTEMS, dtype=str).fillna("")
    assert set(systems["source"]) == set(DOCUMENTS)
    studies = {path.stem for path in Path("config").glob("*.yaml")} | {"default"}
    assert set(systems["study"]) - {""} <= studies
    assert (systems.loc[systems["study"] == "", "missing"] != "").all()


def test_the_exact_recipes_that_are_said_not_to_have_run_are_those_that_nobody_kept():
    asked = {TrainingName.of(name)[0] for name in load([Path("config/thesis.yaml")]).models}
    kept = {
        TrainingName.of(place.split("/")[1])[0]
        for place in cards_kept(MEASURED / "thesis.json")
        if place.startswith("models/")
    }
    numbers = "no one two three four five six seven eight nine ten eleven twelve thirteen".split()
    assert f"{numbers[len(asked - kept)]} of {numbers[len(asked)]} have not been run" in SYSTEMS.read_text(
        encoding="utf-8"
    )


def test_the_committed_page_is_that_of_the_committed_reports(tmp_path):
    for name in ("report.md", "reported_vs_reproduced.csv"):
        for path in (Path("reports") / "published").glob(f"*/{name}"):
            target = tmp_path / path.relative_to(Path("reports"))
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    written = write_overview(tmp_path, SYSTEMS).read_text(encoding="utf-8")
    assert written == (Path("reports") / "README.md").read_text(encoding="utf-8"), "costtogo overview writes it again"
