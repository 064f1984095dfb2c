"""The archive of a study: whole without the clone, the same bytes each time, nothing loaded from elsewhere."""

import hashlib
import io
import json
import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from urllib.parse import unquote

import kept_studies
import pandas as pd
import pytest
from isolation import ROOT
from messages import is_one_sentence

from costtogo.files import digest, write_frame, write_json, write_text
from costtogo.types import UserError
from tools import archive

STUDY, COMMIT, DATE = "lights_out_7", "a" * 40, "2026-11-27T12:00:00+00:00"
VALIDATOR = "rocrate-validator"
LINKS = re.compile(r'(?:href|src)="([^"]+)"')


def tracked() -> list[Path]:
    """The files of git in the clone; the tests' folder is a view of it."""
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True, check=True)
    return [Path(name) for name in listed.stdout.split("\0") if name]


@pytest.fixture(scope="module")
def files():
    """The files of an archive, by path."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(archive, "tracked", tracked)
        return archive.contents(STUDY, COMMIT)


@pytest.fixture(scope="module")
def crate(files):
    """The files with the description of an RO-Crate."""
    pytest.importorskip("rocrate", reason="The crate of an archive needs rocrate: pip install -e '.[archive]'.")
    return archive.described(files, STUDY, COMMIT, DATE)


@pytest.fixture(scope="module")
def unpacked(files, tmp_path_factory):
    """The folder that a reader unpacks, without the repository."""
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(io.BytesIO(archive.zipped(archive.summed(files), "study"))) as whole:
        whole.extractall(folder)
    return folder / "study"


def test_the_same_files_give_the_same_bytes_and_the_sums_are_theirs(files, unpacked):
    assert archive.zipped(files, "study") == archive.zipped(dict(reversed(files.items())), "study")
    lines = (unpacked / archive.SUMS).read_text(encoding="utf-8").splitlines()
    sums = dict(reversed(line.split("  ")) for line in lines)
    there = {str(path.relative_to(unpacked)) for path in unpacked.rglob("*") if path.is_file()}
    assert there == {*sums, archive.SUMS}
    assert all(hashlib.sha256((unpacked / name).read_bytes()).hexdigest() == found for name, found in sums.items())


def test_every_link_of_every_page_leads_to_a_file_and_its_place_and_nothing_is_loaded_from_elsewhere(unpacked):
    pages = {path: path.read_text(encoding="utf-8") for path in unpacked.rglob("*.html")}
    pages = {path: text for path, text in pages.items() if "src" not in path.relative_to(unpacked).parts}
    assert len(pages) > 5 and "<table>" in pages[unpacked / f"reports/published/{STUDY}/report.html"]
    for path, text in pages.items():
        for link in LINKS.findall(text):
            if not link.startswith("https://"):
                target, _, place = unquote(link).partition("#")
                found = (path.parent / target).resolve() if target else path
                assert found.exists(), (path, link)
                assert not place or found.suffix != ".html" or f'id="{place}"' in pages[found], (path, link)
        assert not re.search(r'src="(https?:)?//', text)


def test_the_archive_has_what_repeats_and_cites_it(files):
    needed = {"requirements.lock", "Dockerfile", "Makefile", "Snakefile", "CITATION.cff", "LICENSE", "params.yaml"}
    assert needed | {f"config/{STUDY}.yaml", f"data/measured/{STUDY}.json"} <= set(files)
    assert {name.split("/")[2] for name in files if name.startswith("reports/published/")} == {STUDY}
    deposit = json.loads(files[archive.DEPOSIT])
    assert STUDY in deposit["title"] and deposit["license"] == "MIT" and deposit["version"] == COMMIT
    assert {"doi", "url"} == {each["scheme"] for each in deposit["related_identifiers"]}
    assert all(each["name"] for each in deposit["creators"])


def test_the_crate_names_files_that_are_there_the_run_and_the_literature(crate, files):
    graph = {each["@id"]: each for each in json.loads(crate[archive.CRATE])["@graph"]}
    named = {name for name, each in graph.items() if "File" in each["@type"]}
    assert named <= set(files) and len(named) > 40
    run = graph["#run"]
    assert run["instrument"] == {"@id": "Snakefile"} and run["endTime"] == DATE
    assert {"@id": "params.yaml"} in run["object"] and {"@id": f"reports/published/{STUDY}/report.html"} in run[
        "result"
    ]
    assert {"@id": "https://doi.org/10.1038/s42256-019-0070-z"} in graph["./"]["citation"]
    assert crate == archive.described(files, STUDY, COMMIT, DATE)


def test_the_validator_accepts_the_crate_and_refuses_it_without_a_file(crate, tmp_path):
    """roc-validator wants an older rich than Snakemake takes, so it is a program of its own; it reads w3id.org."""
    program = shutil.which(VALIDATOR)
    if program is None:
        pytest.skip("The crate is checked by rocrate-validator: pipx install roc-validator.")
    with zipfile.ZipFile(io.BytesIO(archive.zipped(crate, "study"))) as whole:
        whole.extractall(tmp_path)
    asked = [program, "--no-interactive", "validate", "--verbose", "--no-paging"]
    asked += ["-p", "workflow-run-crate", "--requirement-severity", "REQUIRED", str(tmp_path / "study")]
    accepted = subprocess.run(asked, capture_output=True, text=True)
    assert accepted.returncode == 0, accepted.stdout
    (tmp_path / "study" / "params.yaml").unlink()
    refused = subprocess.run(asked, capture_output=True, text=True)
    assert refused.returncode == 1 and "params.yaml" in refused.stdout


def test_a_result_goes_in_only_if_it_is_what_was_published(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (network, boards), wrong = (Path(f"results/tiny/models/{name}.parquet") for name in ("net", "boards")), "0" * 64
    for path in (network, boards):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"content")
    outputs = {str(network): digest(network), str(boards): wrong, "results/tiny/models/gone.parquet": wrong}
    cards = {
        "models/net": {"group": "models", "outputs": outputs},
        "figures/all": {"group": "figures", "outputs": outputs},
    }
    write_json("data/measured/tiny.json", {**cards, "tables": {}})
    assert archive.of_results("tiny") == [network]


def test_of_a_training_the_checkpoint_that_the_searches_chose_goes_in_and_the_last(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = Path("results/tiny/models/net")
    for iteration in (10, 20, 30):
        write_text(folder / f"{iteration}.safetensors", f"weights {iteration}")
    names = [f"{iteration}.safetensors" for iteration in (10, 20, 30)]
    index = {"iteration": [10, 20, 30], "file": names, "sha256": [digest(folder / name) for name in names]}
    write_frame(folder / "checkpoints.parquet", pd.DataFrame(index))
    outputs = {f"{folder}/checkpoints.parquet": digest(folder / "checkpoints.parquet")}
    chosen = pd.DataFrame({"iteration": [10, 20, 30], "selected": [False, True, False]})
    cards = {"models/net": {"group": "models", "outputs": outputs}}
    kept_studies.keep(Path("data/measured"), "tiny", cards, {"searches/net/selection": chosen})
    assert [path.name for path in archive.of_results("tiny")] == [
        "checkpoints.parquet",
        "20.safetensors",
        "30.safetensors",
    ]


def test_a_study_without_a_report_is_refused():
    with pytest.raises(UserError) as told:
        archive.contents("ablations", COMMIT)
    assert is_one_sentence(str(told.value)) and "lights_out_7" in str(told.value)
