"""The net: every difference is found and named; digests of slices and of reports of made-up results are as in git."""

import io
import json
import shutil
import struct
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from messages import is_one_sentence
from workflow_runs import commit, run

from net import checkouts, golden
from net.__main__ import main
from net.adapters import kinds, slices, smoke
from net.contents import differing

ROOT = Path(__file__).parents[1]
NAN = np.nan
CARD = {"stage": "train", "code": "1" * 64, "parameters": {"seed": 1}, "outputs": {}, "metrics": {"loss": 0.5}}
FAKE = {  # adapters of a made-up project, whose files lie in files/<part>
    "slices": "shutil.copytree('files/slices', sys.argv[1])",
    "reports": "shutil.copytree('files/reports', sys.argv[1])",
    "smoke": "shutil.copytree('files/smoke', '.', dirs_exist_ok=True)\n"
    "pathlib.Path('results/tiny/models/a.jsonl').write_text(str(time.time()))",
}
FILES = {
    "slices/tiny/models/a.json": json.dumps({"training": {"iterations": 150}}),
    "reports/tiny/report.md": "one\ntwo\nthree\n",
    "smoke/results/tiny/models/a.json": json.dumps(CARD),
    "smoke/results/tiny/models/a/curve.parquet": b"",
    "smoke/reports/tiny/report.md": "of tiny\n",
}
CURVE = "files/smoke/results/tiny/models/a/curve.parquet"
CARD_FILE = "files/smoke/results/tiny/models/a.json"


def parquet(**columns) -> bytes:
    return pd.DataFrame(columns).to_parquet(index=False)


def npz(**arrays) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def safetensors(description: dict, **tensors) -> bytes:
    header, data = {"__metadata__": {"description": json.dumps(description)}}, b""
    for name, tensor in tensors.items():
        offsets = [len(data), len(data) + tensor.nbytes]
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": offsets}
        data += tensor.astype("<f4").tobytes()
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def card(**changes) -> bytes:
    return json.dumps(CARD | changes).encode()


ONE = np.arange(6, dtype=np.float32).reshape(2, 3)
OTHER = ONE + np.array([0, 0, 0.5], dtype=np.float32)
LONG = "| a row of a table in a report | that goes on and on for many letters | and ends in {} |\n"
KINDS = {
    "a key of JSON": ("a.json", b'{"a": {"b": [1, 2]}}', b'{"a": {"b": [1, 3]}}', ["a.b.1: 2 → 3"]),
    "a key that is new": ("a.json", b'{"a": 1}', b'{"a": 1, "b": {"c": 2}}', ["b.c: only after, 2"]),
    "a number of another type": ("a.json", b'{"a": 1}', b'{"a": 1.0}', ["a: 1 → 1.0"]),
    "JSON written otherwise": ("a.json", b'{"a":1}', b'{"a": 1}', ["same values, other bytes (7 → 8)"]),
    "the code of a card": ("a.json", card(), card(code="2" * 64), [f"code alone: {'1' * 12} → {'2' * 12}"]),
    "code and metrics of a card": (
        *("a.json", card(), card(code="2" * 64, metrics={"loss": 0.25})),
        [f"code: {'1' * 12} → {'2' * 12}", "metrics.loss: 0.5 → 0.25"],
    ),
    "code that is of no card": ("a.json", b'{"code": 1}', b'{"code": 2}', ["code: 1 → 2"]),
    "a line": ("a.md", b"one\ntwo\nthree\n", b"one\n2\nthree\n", ["line 2: two → 2"]),
    "lines that are new": ("a.md", b"one\ntwo\n", b"one\nand\nmore\ntwo\n",
                           ["line 2: only after, and", "line 3: only after, more"]),
    "a line that is gone": ("a.md", b"one\ntwo\n", b"one\n", ["line 2: only before, two"]),
    "the end of a long line": (
        *("a.md", LONG.format(1).encode(), LONG.format(2).encode()),
        ["line 1: …tters | and ends in 1 | → …tters | and ends in 2 |"],
    ),
    "a column of CSV": ("a.csv", b"x,y\n1,0.5\n2,1\n", b"x,y\n1,0.5\n2,3\n",
                        ["column y: 1 of 2 differ, by 2 at most (number 1: 1.0 → 3.0)"]),
    "CSV written otherwise": ("a.csv", b"x\n1.0\n", b"x\n1.00\n", ["line 2: 1.0 → 1.00"]),
    "the largest difference of a column": (
        *("a.parquet", parquet(x=[1.0, NAN, 3.0], y=["a", "b", "c"]), parquet(x=[1.5, NAN, 1.0], y=["a", "b", "d"])),
        ["column x: 2 of 3 differ, by 2 at most (number 2: 3.0 → 1.0)", "column y: 1 of 3 differ (number 2: c → d)"],
    ),
    "a number that is missing": ("a.parquet", parquet(x=[1.0, 2.0]), parquet(x=[1.0, NAN]),
                                 ["column x: 1 of 2 differ, by inf at most (number 1: 2.0 → nan)"]),
    "the type of a column": ("a.parquet", parquet(x=[1, 2]), parquet(x=[1.0, 2.5]),
                             ["column x: int64 → float64",
                              "column x: 1 of 2 differ, by 0.5 at most (number 1: 2 → 2.5)"]),
    "columns": ("a.parquet", parquet(x=[1], y=[1]), parquet(y=[1], z=[1]),
                ["column x: only before", "column z: only after"]),
    "the order of columns": ("a.parquet", parquet(x=[1], y=[1]), parquet(y=[1], x=[1]),
                             ["the columns stand in another order"]),
    "rows": ("a.parquet", parquet(x=[1, 2]), parquet(x=[1]), ["rows: 2 → 1"]),
    "an array": ("a.npz", npz(a=ONE, b=ONE), npz(a=ONE, b=OTHER),
                 ["array b: 2 of 6 differ, by 0.5 at most (number 2: 2.0 → 2.5)"]),
    "the shape of an array": ("a.npz", npz(a=ONE), npz(a=ONE.T), ["array a: shape (2, 3) → (3, 2)"]),
    "a tensor": ("a.safetensors", safetensors({}, w=ONE), safetensors({}, w=OTHER),
                 ["tensor w: 2 of 6 differ, by 0.5 at most (number 2: 2.0 → 2.5)"]),
    "what a file of tensors says of itself": (
        *("a.safetensors", safetensors({"iteration": 1}, w=ONE), safetensors({"iteration": 2}, w=ONE)),
        ["description iteration: 1 → 2"],
    ),
    "a picture": ("a.png", b"12", b"123", ["other bytes (2 → 3)"]),
    "a file that is damaged": ("a.parquet", parquet(x=[1]), b"no table",
                               ["cannot be read on both sides (ArrowInvalid)"]),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_difference_of_every_kind_is_a_line_that_names_it(kind):
    name, before, after, lines = KINDS[kind]
    assert list(differing(name, before, after)) == lines


def test_times_are_told_from_results_and_these_from_cards_slices_and_texts():
    timed = ("results/a/timings/models/b.json", "reports/a/timings.md", "results/a/models/b.jsonl")
    assert all(map(kinds.is_time, timed)) and not kinds.is_time("reports/a/report.md")
    others = ("results/a/models/b.json", "results/a/params/models/b.json", "results/a/models/b.key.done")
    assert not any(map(kinds.is_result, (*others, "reports/a/report.md", "reports/a/figures/b.png")))
    assert all(map(kinds.is_result, ("results/a/models/b/curve.parquet", "results/a/models/b/c.unheard_of")))


@pytest.fixture
def project(tmp_path) -> Path:
    """A repository with made-up files and adapters that hand them over, in one commit."""
    folder = tmp_path / "project"
    for name, body in FAKE.items():
        put(folder, f"net/adapters/{name}.py", f"import pathlib, shutil, sys, time\n{body}\n")
    for name, content in FILES.items():
        put(folder, f"files/{name}", content)
    run(folder, "git", "init", "--quiet", ".")
    commit(folder)
    return folder


def put(folder: Path, name: str, content: str | bytes) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def explain(folder: Path, **entries: str) -> None:
    listed = [{"pattern": pattern, "reason": reason} for reason, pattern in entries.items()]
    put(folder, "net/explained.yaml", yaml.safe_dump(listed))


def compared(project: Path, *arguments: str, capsys) -> tuple[int, list[str], dict]:
    """The exit code of a comparison with the commit before, what it says, and its record."""
    out = project.parent / "record.json"
    code = main(["HEAD~1", *arguments, "--out", str(out)], project)
    return code, capsys.readouterr().out.splitlines(), json.loads(out.read_text())


def test_commits_that_do_the_same_have_no_difference_and_nothing_is_left_behind(project, capsys, monkeypatch):
    work = project.parent / "work"
    work.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(work))
    put(project, "more.txt", "of no part")
    commit(project)
    code, told, record = compared(project, capsys=capsys)
    assert code == 0 and told[-1] == "No difference."
    assert "smoke: 3 files compared, 1 of times not compared, 0 differences" in told
    assert record["results_equal"] and record["differences"] == [] and record["unexplained"] == 0
    assert not list(work.iterdir()) and not run(project, "git", "status", "--porcelain")
    assert run(project, "git", "worktree", "list").count("\n") == 1


def change_everything(project: Path) -> None:
    """A commit in which a slice, a report, a card, and files of one side differ."""
    put(project, "files/slices/tiny/models/a.json", json.dumps({"training": {"iterations": 200}}))
    put(project, "files/reports/tiny/report.md", "one\ntwo and a half\nthree\n")
    put(project, CARD_FILE, json.dumps(CARD | {"code": "2" * 64}))
    (project / "files/smoke/reports/tiny/report.md").unlink()
    put(project, "files/smoke/reports/tiny/new.md", "")


LINES = [
    "slices tiny/models/a.json: training.iterations: 150 → 200",
    "reports tiny/report.md: line 2: two → two and a half",
    "smoke reports/tiny/new.md: only after",
    "smoke reports/tiny/report.md: only before",
    f"smoke results/tiny/models/a.json: code alone: {'1' * 12} → {'2' * 12}",
]


def test_what_nothing_explains_is_told_line_by_line_and_ends_in_1(project, capsys):
    change_everything(project)
    commit(project)
    code, told, record = compared(project, capsys=capsys)
    assert code == 1
    assert told[-6:] == ["5 differences that nothing explains:", *(f"  {line}" for line in LINES)]
    assert [found["line"] for found in record["differences"]] == LINES and record["unexplained"] == 5


def test_what_is_explained_is_counted_by_its_reason_and_ends_in_0(project, capsys):
    change_everything(project)
    explain(
        project,
        **{
            "Longer.": "slices tiny/models/*.json: training.iterations: 150 → 200",
            "Moved.": "smoke reports/tiny/*: only *",
            "Clearer.": "reports tiny/report.md: line 2: *",
            "Other code.": "smoke results/*/models/*.json: code alone: *",
            "Long ago.": "smoke results/gone.json: *",
        },
    )
    commit(project)
    code, told, record = compared(project, capsys=capsys)
    assert code == 0 and "2 explained: Moved. For example: smoke reports/tiny/new.md: only after" in told
    assert told[-1] == "This entry of explained.yaml explains nothing: smoke results/gone.json: *"
    assert {found["reason"] for found in record["differences"]} == {"Longer.", "Moved.", "Clearer.", "Other code."}


def test_the_record_says_which_code_stands_for_which_and_that_all_results_are_the_same(project, capsys):
    change_everything(project)
    commit(project)
    record = compared(project, capsys=capsys)[2]
    place = "results/tiny/models/a.json"
    assert record["codes"] == {"train": [{"before": "1" * 64, "after": "2" * 64, "cards": [place]}]}
    assert record["card_fields"] == {"code": 1} and record["results_equal"]
    digests = record["parts"]["smoke"]["digests"]
    assert [digest is None for digest in digests["reports/tiny/new.md"]] == [True, False]
    assert len(set(digests[place])) == 2 and record["parts"]["smoke"]["not_compared"] == [f"{place}l"]
    heads = [run(project, "git", "rev-parse", name).strip() for name in ("HEAD~1", "HEAD", "HEAD^{tree}")]
    assert [record["before"]["commit"], record["after"]["commit"], record["after"]["tree"]] == heads
    assert record["before"]["adapters"] == record["after"]["adapters"] and record["processor"]


@pytest.mark.parametrize("change", ["another result", "a result is gone", "smoke studies were not run"])
def test_results_are_equal_only_if_all_were_compared_and_none_differs_explained_or_not(change, project, capsys):
    only = []
    if change == "another result":
        put(project, CURVE, b"other")
    elif change == "a result is gone":
        (project / CURVE).unlink()
    else:
        put(project, "more.txt", "of no part")
        only = ["--only", "slices,reports"]
    explain(project, **{"Meant.": "smoke results/tiny/models/a/curve.parquet: *"})
    commit(project)
    code, _, record = compared(project, *only, capsys=capsys)
    assert code == 0 and record["results_equal"] is False


def test_of_each_checkout_its_own_adapters_run_and_ours_where_it_has_none(project, capsys, monkeypatch):
    monkeypatch.setattr(checkouts, "PLACE", ROOT.parent / "nowhere")
    shutil.move(project / "files/slices", project / "files/moved")
    put(project, "net/adapters/slices.py", "import shutil, sys\nshutil.copytree('files/moved', sys.argv[1])\n")
    commit(project)
    assert main(["HEAD~1", "--only", "slices"], project) == 0
    run(project, "git", "mv", "net", "ours")
    commit(project)
    monkeypatch.setattr(checkouts, "PLACE", project)
    shutil.copytree(project / "ours", project / "net")
    commit(project)
    assert main(["HEAD~1", "--only", "slices"], project) == 0


def test_a_checkout_runs_its_own_sources_and_reaches_nothing_outside(project, monkeypatch):
    monkeypatch.setenv("COSTTOGO_TRACKING", "on")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:1")
    tell = "import costtogo, json, os, pathlib, sys\nfolder = pathlib.Path(sys.argv[1])\nfolder.mkdir()\n"
    tell += "told = {'own': pathlib.Path(costtogo.__file__).is_relative_to(pathlib.Path.cwd()), **os.environ}\n"
    put(project, "net/adapters/slices.py", tell + "(folder / 'told.json').write_text(json.dumps(told))")
    put(project, "src/costtogo/__init__.py", "")
    told = project.parent / "told"
    checkouts.Checkout("after", project, "", "").run("slices", str(told), log=project.parent / "log")
    found = json.loads((told / "told.json").read_text())
    assert found["own"] and found["COSTTOGO_TRACKING"] == "off" and found["COSTTOGO_EXTERNAL"] == "nowhere"
    assert "MLFLOW_TRACKING_URI" not in found


def test_the_working_tree_takes_part_as_it_is_where_it_is_asked_for(project, capsys):
    put(project, "files/slices/tiny/models/b.json", "{}")
    assert main(["HEAD", "--only", "slices", "--dirty"], project) == 1
    assert "  slices tiny/models/b.json: only after" in capsys.readouterr().out.splitlines()
    (project / "files/slices/tiny/models/b.json").unlink()
    (project / "files/slices/tiny/models/a.json").unlink()
    put(project, "files/slices/tiny/models/c.json", "{}")
    main(["HEAD", "--only", "slices", "--dirty"], project)
    assert "  slices tiny/models/a.json: only before" in capsys.readouterr().out.splitlines()


def fail(project: Path, kind: str) -> list[str]:
    """What makes a comparison impossible, and the arguments."""
    if kind == "a dirty tree":
        put(project, "new.txt", "")
    elif kind == "a study that fails":
        log = "Error in rule model:\n    log: logs/tiny/models/a.log (check it)\nno memory"
        put(project, "net/adapters/smoke.py", f"import sys\nprint({log!r})\nsys.exit(1)")
        commit(project)
    elif kind == "an explanation of everything":
        explain(project, **{"Meant.": "*"})
        commit(project)
    elif kind == "an explanation without a reason":
        put(project, "net/explained.yaml", "- pattern: slices *\n")
        commit(project)
    elif kind == "a folder that is there":
        return ["HEAD", "--keep", str(project)]
    elif kind == "a record that cannot be written":
        return ["HEAD", "--only", "slices", "--out", str(project / "no folder" / "record.json")]
    return ["no-commit"] if kind == "an unknown commit" else ["HEAD"]


@pytest.mark.parametrize(
    "kind, words",
    {
        "an unknown commit": "There is no commit 'no-commit'",
        "a dirty tree": "commit them, or give --dirty",
        "a study that fails": "failed in the study tiny: the end of its log is above",
        "an explanation of everything": "a pattern begins with its part, slices, reports, smoke",
        "an explanation without a reason": "must have the keys pattern and reason",
        "a folder that is there": "name a new one",
        "a record that cannot be written": "Cannot write",
    }.items(),
)
def test_what_cannot_be_compared_is_one_sentence_and_exit_code_2(kind, words, project, capsys):
    assert main(fail(project, kind), project) == 2
    told = capsys.readouterr()
    assert words in told.err and is_one_sentence(told.err.removeprefix("net: ").strip())
    assert ("no memory" in told.out) == (kind == "a study that fails")


def test_the_overlays_of_the_smoke_studies_fit_the_studies(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "config", tmp_path / "config")
    shutil.copytree(ROOT / "data/puzzles", tmp_path / "data/puzzles")
    shutil.copy(ROOT / "params.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    smoke.make_tiny()
    slices.main(Path("slices"))
    study = json.loads(Path("slices/puzzle15/pattern_databases/7-8.json").read_text())
    assert study["partition"] == "5-5-5", "which local_vi reads by the name of a larger one"


def test_moved_digests_are_named_and_accepted(project, capsys):
    golden.accept(project)
    assert "slices: 1 digests, 1 of them moved\n  tiny/models/a.json: new\n" in capsys.readouterr().out
    before = golden.read(project, "slices")
    put(project, "files/slices/tiny/models/a.json", "{}")
    put(project, "files/reports/tiny/tables/provenance.csv", "of the processor")
    assert golden.moved(before, golden.digests(project, "slices")) == ["tiny/models/a.json: changed"]
    assert golden.moved({"a": "1"}, {"b": "2"}) == ["a: gone", "b: new"]
    assert main(["--accept"], project) == 0
    assert "slices: 1 digests, 1 of them moved" in capsys.readouterr().out
    assert golden.read(project, "slices") == golden.digests(project, "slices") != before
    assert set(golden.read(project, "reports")) == {"tiny/report.md"}


@pytest.mark.parametrize("part", golden.PARTS)
def test_slices_and_reports_of_made_up_results_are_those_in_git(part):
    lines = golden.moved(golden.read(ROOT, part), golden.digests(ROOT, part))
    assert not lines, (
        f"{len(lines)} {part} moved: {'; '.join(lines)}. To see how: make net BEFORE=<commit> (python -m net <commit> "
        "--dirty where files are not committed). If it is meant: python -m net --accept, and commit tests/golden."
    )
