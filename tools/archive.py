"""A zip of a published study that stands on its own: the same commit gives the same bytes.

It has the files of git, without the reports of other studies, at the paths that they have in the clone; the report also
as HTML that opens without a server; of the study's networks and test sets in `results`, those that its numbers come
from, by their digests; metadata for a deposit at Zenodo, from CITATION.cff; and SHA-256 of every file. In a clone:

    make archive STUDY=default
"""

import hashlib
import io
import json
import re
import subprocess
import zipfile
from html import escape
from pathlib import Path
from typing import Annotated, Any

import markdown
import typer
import yaml
from markdown.extensions.toc import slugify_unicode

from costtogo import cli
from costtogo.cards import CHECKPOINTS
from costtogo.files import digest, json_text, read_bytes, read_frame, read_json, write_bytes
from costtogo.stages.stage_run import commit
from costtogo.tables.rows import rows_of
from costtogo.types import UserError, excerpt

REPORTS, MEASURED = Path("reports/published"), Path("data/measured")
OUT = Path("dist")
DIRTY = "+"  # ends the commit of a working tree with changes
KEPT = ("models", "instances")  # groups of stages whose results the archive takes from `results`
SUMS, DEPOSIT, START = "SHA256SUMS", ".zenodo.json", "index.html"
CRATE = "ro-crate-metadata.json"
GIVEN = ("params.yaml", "config/", "data/reported/")  # inputs of the run
BESIDE = ("requirements.lock", "Dockerfile", "CITATION.cff", "src/costtogo/networks/", "index.html")
LICENCE, TERMS = "https://spdx.org/licenses/MIT", "https://w3id.org/ro"
PROFILES = (
    (f"{TERMS}/wfrun/process/0.5", "Process Run Crate", "0.5"),
    (f"{TERMS}/wfrun/workflow/0.5", "Workflow Run Crate", "0.5"),
    ("https://w3id.org/workflowhub/workflow-ro-crate/1.0", "Workflow RO-Crate", "1.0"),
)
OLDEST = (1980, 1, 1, 0, 0, 0)  # the time of every file: the oldest that a zip can state
MODE = 0o644 << 16
LINK = re.compile(r'(href|src)="(?![a-z]+:|#)([^"#]+)\.md(#[^"]*)?"')
PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ margin: 2rem auto; max-width: 72rem; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; color: #222; }}
table {{ border-collapse: collapse; display: block; overflow-x: auto; font-size: 0.85rem; }}
th, td {{ border: 1px solid #ccc; padding: 0.2rem 0.5rem; }}
img {{ max-width: 100%; }}
</style>
{body}
</html>
"""
README = """# {title}

This archive has the study `{study}` of costtogo at commit `{commit}`, with its report, tables, code and parameters.

- [The report](reports/published/{study}/report.html), which opens without a server. Its tables are beside it as CSV.
- `data/measured/{study}`: every row that the report reads; `data/reported`: the numbers of the literature.
- `src/costtogo/networks`: networks that come with costtogo, each with a card.
{found}
- `CITATION.cff`: how to cite. `.zenodo.json`: metadata of a deposit. `SHA256SUMS`: `sha256sum --check SHA256SUMS`.

## How to repeat it

You need Python 3.11 or newer, make and git, or a container made by the `Dockerfile`. `requirements.lock` names the
version of every package.

    git init --quiet . && git add . && git commit --quiet --message archive
    make environment
    .venv/bin/costtogo report {study}
    .venv/bin/snakemake --cores all{target}
    .venv/bin/costtogo compare {study}

`report` writes the report again from the rows in `data/measured`; `snakemake` makes everything again, from nothing;
`compare` says where the two differ.
"""
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command()
def archive(studies: Annotated[list[str] | None, typer.Argument(help="Published studies; all if left out.")] = None):
    """Write dist/costtogo-<study>.zip of each study, from a clean tree."""
    at = commit()
    if not at or at.endswith(DIRTY):
        raise UserError("An archive is of a commit: start this in a clone, and commit or stash what git status shows.")
    for study in studies or sorted(path.parent.name for path in REPORTS.glob("*/report.md")):
        path = OUT / f"costtogo-{study}.zip"
        content = zipped(summed(described(contents(study, at), study, at, date_of(at))), f"costtogo-{study}")
        write_bytes(path, content)
        print(f"{path}: {len(content) / 1e6:.1f} MB, SHA-256 {hashlib.sha256(content).hexdigest()}")


def contents(study: str, at: str) -> dict[str, bytes]:
    """The files of the archive of a study, by path; at: the commit.  UserError if the study has no published report."""
    folder = REPORTS / study
    if not (folder / "report.md").is_file():
        there = ", ".join(sorted(path.parent.name for path in REPORTS.glob("*/report.md")))
        raise UserError(f"There is no published report of {excerpt(study)}; there are {there}.")
    own = [path for path in tracked() if folder in path.parents or REPORTS not in path.parents]
    files = {path.as_posix(): read_bytes(path) for path in own if path.is_file()}
    files |= {path.as_posix(): read_bytes(path) for path in of_results(study)}
    for path in [path for path in own if folder in path.parents and path.suffix == ".md"]:
        files[path.with_suffix(".html").as_posix()] = page(files[path.as_posix()].decode(), files, path.parent)
    citation = yaml.safe_load(files["CITATION.cff"])
    files[DEPOSIT] = json_text(deposit(citation, study, at)).encode()
    files[START] = page(start(citation["title"], study, at, files), files, Path())
    return files


def summed(files: dict[str, bytes]) -> dict[str, bytes]:
    """The files with one more, which has the SHA-256 of each."""
    sums = [f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in sorted(files.items())]
    return files | {SUMS: "".join(sums).encode()}


def described(files: dict[str, bytes], study: str, at: str, date: str) -> dict[str, bytes]:
    """The files with one more, which describes them: a Workflow Run Crate, https://w3id.org/ro/wfrun/workflow/0.5.

    The run of the workflow has the parameters and the literature as inputs, the report and the rows as results. Of a
    single stage the crate says nothing: its profile wants each file that a stage reads or writes in the crate, and most
    are not. data/measured/<study>.json has each stage's parameters, code, inputs and outputs with their digests.
    Raises UserError without the package rocrate.
    """
    try:
        from rocrate.model import ContextEntity
        from rocrate.rocrate import ROCrate
    except ModuleNotFoundError as error:
        raise UserError("An archive is described by the package rocrate: pip install -e '.[archive]'.") from error
    about, crate = json.loads(files[DEPOSIT]), ROCrate(version="1.1")

    def add(address: str, kind: str, **properties: Any) -> Any:
        return crate.add(ContextEntity(crate, address, {"@type": kind, **properties}))

    root, licence = crate.root_dataset, add(LICENCE, "CreativeWork", name="MIT License")
    root["name"], root["description"], root["version"] = about["title"], about["description"], at
    root["license"], root["datePublished"] = licence, date
    root["citation"] = [add(name, "CreativeWork", name=title) for name, title in cited(files["CITATION.cff"])]
    root["conformsTo"] = [add(name, "CreativeWork", name=title, version=which) for name, title, which in PROFILES]
    root["author"] = [add(f"#{each['name']}", "Organization", name=each["name"]) for each in about["creators"]]
    workflow = crate.add_workflow("Snakefile", "Snakefile", main=True, lang="snakemake")
    workflow["name"], workflow["version"], workflow["license"] = "The workflow of costtogo", at, licence
    made = (f"{REPORTS}/{study}/", f"{MEASURED}/{study}/", f"{MEASURED}/{study}.json", f"results/{study}/")
    parts = {
        name: crate.add_file(dest_path=name, properties={"name": name, "contentSize": str(len(content))})
        for name, content in sorted(files.items())
        if name.startswith((*made, *GIVEN, *BESIDE))
    }
    root["mentions"] = add(
        "#run",
        "CreateAction",
        name=f"The run of the study {study}",
        instrument=workflow,
        endTime=date,
        object=[part for name, part in parts.items() if name.startswith(GIVEN)],
        result=[part for name, part in parts.items() if name.startswith(made)],
    )
    return files | {CRATE: json_text(crate.metadata.generate()).encode()}


def cited(citation: bytes) -> list[tuple[str, str]]:
    """The address and the title of each work that CITATION.cff lists."""
    listed = yaml.safe_load(citation)["references"]
    doi = "https://doi.org/{doi}"
    return [
        (doi.format(**each) if "doi" in each else each.get("url", f"#{each['title']}"), each["title"])
        for each in listed
    ]


def date_of(at: str) -> str:
    """The date of a commit, ISO 8601."""
    asked = ["git", "show", "--no-patch", "--format=%cI", at]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


def tracked() -> list[Path]:
    """The files of git, by their paths in the clone."""
    listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, check=True).stdout
    return [Path(name) for name in listed.split("\0") if name]


def of_results(study: str) -> list[Path]:
    """Networks and test sets of a run in this clone, if they are what the published numbers come from.

    Their digests must be those of the cards in data/measured. Of a training, the checkpoint that the searches chose and
    the last.
    """
    found, rows = [], rows_of(MEASURED / study)
    for card in read_json(MEASURED / f"{study}.json").values():
        if isinstance(card, dict) and card.get("group") in KEPT:
            same = [Path(path) for path, sha in card["outputs"].items() if _is(Path(path), sha)]
            found += [path for path in same if CHECKPOINTS not in path.as_posix()]
            for index in [path for path in same if path.name == "checkpoints.parquet"]:
                files, choice = read_frame(index), f"searches/{index.parent.name}/selection"
                used = files["iteration"] == files["iteration"].max()
                if rows.has(choice):
                    used |= files["iteration"].isin(rows.table(choice).query("selected")["iteration"])
                for file, sha256 in files.loc[used, ["file", "sha256"]].drop_duplicates().itertuples(index=False):
                    found += [path for path in [index.parent / file] if _is(path, sha256)]
    return found


def _is(path: Path, sha256: str) -> bool:
    return path.is_file() and digest(path) == sha256


def page(text: str, files: dict[str, bytes], folder: Path) -> bytes:
    """Markdown as a page of HTML; links to pages of Markdown lead to the HTML of those that are converted.

    files: of the archive; folder: of the page in it.
    """

    def linked(found: re.Match) -> str:
        place = Path(*_resolved(folder / found[2])).as_posix()
        suffix = ".html" if place.startswith(REPORTS.as_posix()) and f"{place}.md" in files else ".md"
        return f'{found[1]}="{found[2]}{suffix}{found[3] or ""}"'

    options = {"toc": {"slugify": slugify_unicode}}
    body = markdown.markdown(text, extensions=["tables", "fenced_code", "toc"], extension_configs=options)
    title = re.search(r"^# (.*)", text, re.MULTILINE)
    return PAGE.format(title=escape(title[1] if title else ""), body=LINK.sub(linked, body)).encode()


def _resolved(path: Path) -> list[str]:
    """The parts of a relative path, each .. taken back."""
    parts: list[str] = []
    for part in path.parts:
        parts = parts[:-1] if part == ".." else [*parts, part]
    return parts


def start(title: str, study: str, at: str, files: dict[str, bytes]) -> str:
    """The first page of the archive, as Markdown."""
    taken = sum(name.startswith("results/") for name in files)
    found = f"- `results/{study}`: {taken} files of networks and test sets that the numbers come from."
    missing = "- The networks and test sets of the study are not here: they were not in the clone that wrote this."
    target = "" if study == "default" else f" {study}"
    return README.format(title=title, study=study, commit=at, target=target, found=found if taken else missing)


def deposit(citation: dict[str, Any], study: str, at: str) -> dict[str, Any]:
    """Metadata as Zenodo reads it from .zenodo.json; citation: the content of CITATION.cff."""
    cited = [(kind, work[kind]) for work in citation["references"] for kind in ("doi", "url") if kind in work]
    names = [each.get("name") or f"{each['family-names']}, {each['given-names']}" for each in citation["authors"]]
    return {
        "title": f"{citation['title']}: the study {study}",
        "upload_type": "dataset",
        "creators": [{"name": name} for name in names],
        "description": f"Report, tables, code and parameters of the study {study}, at commit {at}.",
        "license": citation["license"],
        "version": at,
        "related_identifiers": [
            {"identifier": address, "relation": "references", "scheme": kind} for kind, address in cited
        ],
    }


def zipped(files: dict[str, bytes], top: str) -> bytes:
    """A zip of files in one folder; the same files give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as whole:
        for name, content in sorted(files.items()):
            about = zipfile.ZipInfo(f"{top}/{name}", OLDEST)
            about.external_attr, about.compress_type, about.create_system = MODE, zipfile.ZIP_DEFLATED, 3
            whole.writestr(about, content)
    return buffer.getvalue()


if __name__ == "__main__":
    cli.main(app)
