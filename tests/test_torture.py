"""The trials of `make torture`: seeded, really doing harm, honest about what did not survive, and taken up again."""

import asyncio
import json
import random
import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest
import yaml
from stage_recipes import make as make_stage

from costtogo.external_files import VARIABLE
from costtogo.params.loading import load
from costtogo.params.reading import read_yaml
from costtogo.report.write import write
from costtogo.tables.results import StudyResults
from costtogo.workflow.stages import stages_of
from torture import files, page, parameters, results, shell
from torture.__main__ import main
from torture.calls import Told, amiss, call, check_solution, within
from torture.files import COMMANDS
from torture.kinds import KINDS
from torture.parameters import edit, places, spoilt
from torture.projects import EXTERNAL, MODULES, STUDY, check_same, lay_out
from torture.trials import Damage, Kind, Outcome, recalled, run

ROOT = Path(__file__).parents[1]
STAGES = ROOT / "src" / "costtogo" / "stages"
SEEDS = range(40)


def drawn(make) -> list:
    """What generators of several seeds make."""
    return [make(random.Random(seed)) for seed in SEEDS]


def test_the_same_seed_spoils_bytes_the_same_way_and_another_seed_another_way():
    content = bytes(range(200))
    first = drawn(lambda generator: spoilt(generator, content))
    assert first == drawn(lambda generator: spoilt(generator, content))
    assert len({done for done, _ in first}) > 20 and all(made != content for _, made in first)


def test_edits_of_parameters_are_seeded_and_change_them():
    values = [read_yaml(ROOT / "params.yaml") for _ in SEEDS]
    told = [edit(random.Random(seed), each) for seed, each in enumerate(values)]
    again = [edit(random.Random(seed), read_yaml(ROOT / "params.yaml")) for seed in SEEDS]
    assert told == again and len({done for done, _ in told}) > 20
    whole = read_yaml(ROOT / "params.yaml")
    changed = [each != whole for each in values]
    assert sum(changed) > 30 and all(each for each, (_, wrong) in zip(changed, told, strict=True) if wrong)
    assert {type(place.inside) for place in places(whole)} == {dict, list}


def test_malformed_words_tables_and_requests_are_seeded_and_differ_from_the_right_ones():
    (command, *_), ((_, fields), *_) = shell.COMMANDS, page.REQUESTS
    texts = shell.TABLES["hanoi_4", "state"]
    for make in (
        lambda generator: tuple(shell.malformed(generator, list(command))),
        lambda generator: shell.table(generator, "state", texts),
        lambda generator: page.malformed(generator, fields),
    ):
        assert drawn(make) == drawn(make) and len(set(drawn(make))) > 20


@pytest.mark.parametrize("command", shell.COMMANDS, ids=lambda words: " ".join(words[:4]))
def test_the_words_that_are_spoilt_are_right_ones(command, tmp_path):
    with shell.folder(tmp_path):
        told = call("solve", "--json", *command)
    assert told.code == 0, told.err
    check_solution(told.out)


@pytest.mark.parametrize(("puzzle", "column"), shell.TABLES)
def test_the_tables_that_are_spoilt_are_right_ones(puzzle, column, tmp_path):
    content = "\n".join([column, *(f'"{text}"' for text in shell.TABLES[puzzle, column])])
    with shell.folder(tmp_path):
        Path("in.csv").write_text(content, encoding="utf-8")
        words = ("--puzzle", puzzle, "--solver", "exact", "--instances", "in.csv", "--out", "out.csv")
        assert call("solve", *words).code == 0
        shell.check_solutions(puzzle, content.encode())


@pytest.mark.parametrize("name", COMMANDS)
def test_the_files_that_are_spoilt_are_right_ones(name, tmp_path):
    with files.ready(tmp_path):
        assert files.run(name).code == 0


@pytest.mark.parametrize(("path", "fields"), page.REQUESTS)
def test_the_requests_that_are_spoilt_are_right_ones(path, fields):
    body = json.dumps(fields).encode()
    status, content = asyncio.run(page.ask(page.application(), "POST", f"/api/{path}", body))
    assert status in (200, 202), content


def kind_of(trial) -> Kind:
    """A kind of trials that share nothing."""

    @contextmanager
    def ready(work):
        yield trial

    return Kind("made_up", "made-up trials", 5, ready)


def test_a_trial_that_fails_has_not_survived_and_is_tried_again_and_no_other(tmp_path):
    tried, said = [], []

    def trial(generator, number):
        tried.append(number)
        if number == 1:
            raise Damage("it broke")
        if number == 2:
            raise KeyError("unforeseen")

    options = (7, 4, tmp_path / "kept.jsonl", tmp_path / "work", said.append)
    outcomes = run(kind_of(trial), *options)
    assert [outcome.survived for outcome in outcomes] == [True, False, False, True]
    assert outcomes[1].damage == "it broke" and outcomes[2].damage.startswith("KeyError at test_torture.py")
    assert said == [f"made_up {number}: {outcomes[number].damage}" for number in (1, 2)]
    run(kind_of(trial), *options)
    assert tried == [0, 1, 2, 3, 1, 2] and not (tmp_path / "work").exists()
    with (tmp_path / "kept.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"number": 0, "dam')  # cut off
    assert recalled(tmp_path / "kept.jsonl")[0].survived


def test_a_trial_depends_on_its_number_and_the_seed_alone(tmp_path):
    seen = {}
    for seed, count in ((1, 3), (1, 2), (2, 2)):
        drawn = []
        trial = kind_of(lambda generator, number, drawn=drawn: drawn.append(generator.random()))
        run(trial, seed, count, tmp_path / f"{seed}-{count}", tmp_path / "work", print)
        seen[seed, count] = drawn
    assert seen[1, 3][:2] == seen[1, 2] != seen[2, 2] and len({*seen[1, 3]}) == 3


CHEAP = (parameters.KIND, shell.WORDS, shell.INSTANCES, page.KIND, files.KIND)  # a trial takes part of a second


@pytest.mark.parametrize("kind", CHEAP, ids=lambda kind: kind.name)
def test_the_first_trials_of_the_cheap_kinds_survive(kind, tmp_path):
    said = []
    assert len(run(kind, 1, 8, tmp_path / "kept.jsonl", tmp_path / "work", said.append)) == 8 and said == []


def test_the_tiny_study_has_every_kind_of_stage_and_comes_to_its_report(tmp_path, monkeypatch):
    """Without figures and local value iteration, which take longest."""
    monkeypatch.setenv(VARIABLE, EXTERNAL)
    lay_out(tmp_path)
    with within(tmp_path):
        config = [Path("config") / f"{STUDY}.yaml"]
        assert {stage.module for stage in stages_of(load(config))} == {*MODULES}
        values = read_yaml(config[0])
        del values["puzzles"]["puzzle8"]["local_vi"]
        config[0].write_text(yaml.safe_dump(values), encoding="utf-8")
        study = load(config)
        for stage in stages_of(study):
            if stage.module not in ("figures", "report"):
                make_stage(stage)
        write(StudyResults(Path("results") / STUDY, study), Path("reports"))
    text = (tmp_path / "reports/report.md").read_text(encoding="utf-8")
    assert "`adi`" in text and "`H4_DNN_reduced_0`" in text and not re.search(r"\b(nan|None|NaN)\b", text)


GOOD = "costtogo: There is no puzzle of this name.\n"


@pytest.mark.parametrize(
    ("told", "right"),
    [
        (Told(0, "{}", ""), True),
        (Told(1, "", GOOD), True),
        (Told(2, "", "Usage: costtogo solve\nTry it.\n\nError: No such option.\n"), True),
        (Told(1, "half an answer", GOOD), False),
        (Told(1, "", "costtogo: Traceback (most recent call last).\n"), False),
        (Told(1, "", GOOD * 2), False),
        (Told(1, "", ""), False),
        (Told(70, "", GOOD), False),
    ],
)
def test_a_refusal_is_one_sentence_and_its_exit_code(told, right):
    assert (amiss(told) == "") == right


def test_a_call_that_raises_is_damage(monkeypatch):
    def broken():
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr("costtogo.cli.main", broken)
    with pytest.raises(Damage, match="'solve': ZeroDivisionError at test_torture.py"):
        call("solve")


def test_a_solution_that_does_not_solve_is_damage():
    told = call("solve", "--json", "--puzzle", "hanoi_3", "--solver", "exact", "--state", "100")
    check_solution(told.out)
    for wrong in (told.out.replace('"1>0"', '"1>2"'), told.out.replace('"length": 1', '"length": NaN')):
        assert wrong != told.out
        with pytest.raises(Damage):
            check_solution(wrong)


def test_other_bytes_and_files_are_damage_and_what_a_kill_leaves_is_none():
    whole = {"results/tiny/a.npz": b"1", "results/tiny/b.json": b"2"}
    check_same(whole | {"results/tiny/.a.npz.12ab": b"", "results/tiny/resume/net/point": b""}, whole)
    for found in (whole | {"results/tiny/a.npz": b""}, whole | {"results/tiny/c": b""}, {"results/tiny/a.npz": b"1"}):
        with pytest.raises(Damage):
            check_same(found, whole)


def test_the_table_counts_what_was_tried_survived_and_mended(tmp_path):
    kind = kind_of(None)
    (tmp_path / "README.md").write_text(f"before\n{results.BEGIN}\n{results.END}\nafter\n", encoding="utf-8")
    (tmp_path / "mended.csv").write_text("kind,commit,what\nmade_up,abc1234,It broke.\n", encoding="utf-8")
    outcomes = [Outcome(0, "", 60.0), Outcome(1, "it broke", 60.0)]
    results.write(tmp_path, [kind], results.row(kind, outcomes, 3, "abc"))
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "| made-up trials | `made_up` | 2 | 1 | 1 |\n" in text and "- `made_up`, abc1234: It broke.\n" in text
    written = pd.read_csv(tmp_path / "results.csv").iloc[0]
    assert written[["kind", "tried", "survived", "minutes", "seed"]].tolist() == ["made_up", 2, 1, 2.0, 3]


def test_the_committed_table_is_of_todays_kinds():
    names = {kind.name for kind in KINDS}
    table = pd.read_csv(ROOT / "torture" / "results.csv")
    assert len(names) == len(KINDS) and {*table["kind"]} <= names
    assert {*pd.read_csv(ROOT / "torture" / "mended.csv")["kind"]} <= names
    assert all((ROOT / "src" / "costtogo" / name).exists() for name in COMMANDS if name.startswith("networks/"))


def test_every_kind_of_stage_is_tried_but_the_one_of_another_program():
    found = {
        ".".join(path.relative_to(STAGES).with_suffix("").parts)
        for path in STAGES.rglob("*.py")
        if re.search(r"^(def run\(|run = )", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert found - {*MODULES} == {"search.two_phase"} and found >= {*MODULES} and len({*MODULES}) == len(MODULES)


def test_several_kinds_are_tried_in_processes_of_their_own_and_one_that_fails_is_the_exit_code(monkeypatch):
    codes = {"shell": 0, "page": 1, "files": -9}

    def ran(command, cwd):
        assert command[1:3] == ["-m", "torture"] and command[4:] == ["--seed", "3", "--count", "2"]
        return subprocess.CompletedProcess(command, codes[command[3]])

    monkeypatch.setattr(subprocess, "run", ran)
    for kinds, code in ((["shell", "page"], 1), (["shell", "files"], 1)):
        assert main([*kinds, "--seed", "3", "--count", "2"]) == code
    codes |= {"page": 0}
    assert main(["shell", "page", "--seed", "3", "--count", "2"]) == 0


@pytest.mark.parametrize("option", ["--count", "--at-once"])
def test_a_number_below_one_is_refused_in_a_sentence(option, capsys):
    with pytest.raises(SystemExit) as left:
        main(["shell", option, "0"])
    assert left.value.code == 2 and f"{option} must be 1 or more" in capsys.readouterr().err


def test_an_unknown_kind_is_one_sentence():
    done = subprocess.run([sys.executable, "-m", "torture", "shel"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2 and "there is no kind 'shel'; there are parameters, shell" in done.stderr
