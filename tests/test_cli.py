"""The command: what it prints and writes, and that a user's mistake is one sentence and exit code 1."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from messages import is_one_sentence
from stage_recipes import write_recipe

from costtogo import cli
from costtogo.compiled import Kernel, njit
from costtogo.exact import pattern_database
from costtogo.exact.bfs import distances
from costtogo.exact.cosets import Cosets, build
from costtogo.exact.graph import graph_of
from costtogo.files import digest, read_arrays, read_frame, read_json, write_frame, write_json
from costtogo.heuristics import network as networks
from costtogo.heuristics.policy_guide import PolicyGuide
from costtogo.params.training import architecture_of
from costtogo.puzzles import base, make
from costtogo.puzzles.base import apply, random_walks
from costtogo.solving import exact, model_cards, solution

HANOI = make("hanoi_3")
HANOI_DISTANCE = distances(graph_of(HANOI), int(HANOI.rank(HANOI.goal[None])[0]))
CUBE = make("cube3")
COLUMNS = ["solution", "length", "nodes_expanded", "seconds", "solved"]
WITH_OPTIMA = [*COLUMNS, "optimal_moves", "key"]  # of a puzzle whose states are all listed


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    """A checkpoint of an untrained network of hanoi_3: searching with it solves all the same."""
    path = tmp_path_factory.mktemp("models") / "000000.safetensors"
    network = networks.build(architecture_of(first_layers=[8], residual_blocks=0), HANOI, seed=0)
    networks.save(path, network, {"puzzle": "hanoi_3", "precision": "float32", "iteration": 0})
    return str(path)


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    """Run `costtogo` in an empty folder: exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["costtogo", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            cli.main()
        return left.value.code or 0, *capsys.readouterr()

    return run


@pytest.fixture
def refused(command):
    """Run a command that must fail as a user's mistake does: the sentence it told."""

    def run(*arguments) -> str:
        code, out, err = command(*arguments)
        sentence = err.removeprefix("costtogo: ").removesuffix("\n")
        assert code == 1 and out == "" and err.startswith("costtogo: ") and is_one_sentence(sentence), err
        return sentence

    return run


def replays(start, solution: str) -> bool:
    return bool(HANOI.is_goal(apply(HANOI, start, HANOI.parse_moves(solution))[None])[0])


def after(scramble: str):
    return apply(HANOI, HANOI.goal, HANOI.parse_moves(scramble))


def test_the_version_is_that_of_the_installed_package(command):
    code, told, _ = command("--version")
    assert (code, told) == (0, f"costtogo {version('costtogo')}\n") and told.split()[1][0].isdigit()


def test_help_names_every_command():
    command = [sys.executable, "-m", "costtogo.cli", "--help"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    commands = (
        "check",
        "solve",
        "import-puzzle",
        "networks",
        "track",
        "publish",
        "compare",
        "report",
        "stage",
    )
    for name in commands:
        assert f" {name} " in told


MODULES = "import sys; from costtogo.__main__ import main\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)"
SLOW = {"torch", "numba", "llvmlite", "pandas", "pyarrow", "scipy", "sympy", "rich", "mlflow", "fastapi", "matplotlib"}


@pytest.mark.parametrize(
    ("words", "others"),
    [
        (["--help"], {"pydantic", "importlib.metadata"}),
        (["solve", "--help"], {"pydantic", "importlib.metadata"}),
        (["solve", "--puzzle", "cube2", "--scramble", "R U F", "--solver", "exact"], set()),
        (["solve", "--puzzle", "hanoi_7", "--scramble", "0>2", "--solver", "exact"], set()),
    ],
)
def test_help_and_a_solution_from_a_table_load_no_slow_package(words, others, tmp_path):
    run = partial(subprocess.run, [sys.executable, "-c", MODULES, *words], cwd=tmp_path, capture_output=True, text=True)
    if "exact" in words:
        run(check=True)  # makes the table
    loaded = set(run(check=True).stderr.split())
    assert "costtogo.cli" in loaded and loaded.isdisjoint(SLOW | others), loaded & (SLOW | others)


def test_a_kernel_of_python_gives_what_the_compiled_one_gives():
    kernels = [each for each in vars(base).values() if isinstance(each, Kernel) and each.options.get("inline") is None]
    draws, legal = np.random.default_rng(0).random(40), np.random.default_rng(1).random((40, 12)) < 0.3
    states, turns = random_walks(CUBE, 40, 3, np.random.default_rng(2))[:, -1], np.arange(40) % 12
    given = {
        "permuted": (states, CUBE.turns, turns),
        "_equal": (states, states[7]),
        "_pick": (legal, draws, np.full(40, 3)),
    }
    assert {each.__name__ for each in kernels} == {*given}
    for kernel in kernels:
        of_python = kernel.function(*given[kernel.__name__])
        assert np.array_equal(of_python, kernel.dispatcher(*given[kernel.__name__]))


def test_python_takes_the_place_of_compiled_code_for_a_few_cells_alone():
    kernel = njit(by_python=10)(lambda cells: cells.size)
    assert kernel(np.zeros(4)) == 4 and kernel(np.zeros(5)) == 5 and "dispatcher" not in vars(kernel)
    assert kernel(np.zeros(1)) == 1 and "dispatcher" in vars(kernel) and kernel.signatures


def test_a_mistake_leaves_the_process_with_code_1_and_no_traceback(tmp_path):
    command = [sys.executable, "-m", "costtogo.cli", "check", str(tmp_path / "none.yaml")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == f"costtogo: Cannot read {tmp_path / 'none.yaml'}: No such file or directory.\n"


TOO_LARGE = str(2**63)


@pytest.mark.parametrize("option", ["--max-nodes", "--max-expansions", "--batch-size", "--average"])
@pytest.mark.parametrize("number", [TOO_LARGE, "9" * 5000, "0", "-1", "1.5"])
def test_a_number_that_no_search_counts_to_is_a_usage_error(command, model, option, number):
    code, out, err = command("solve", "--model", model, "--state", "222", option, number)
    assert code == 2 and out == "" and f"Invalid value for '{option}'" in err and len(err) < 300


@pytest.mark.parametrize(
    ("option", "solver"),
    [("--max-nodes", "beam"), ("--max-expansions", "bwas"), ("--max-expansions", "auto"), ("--seconds", "greedy")],
)
def test_the_largest_number_there_is_limits_nothing(command, cube_model, option, solver):
    limits = {"--seconds": "60"} | {option: str(2**63 - 1)}
    options = [word for pair in limits.items() for word in pair]
    assert command("solve", "--model", cube_model, "--scramble", "R", "--solver", solver, *options)[0] == 0


WORDS = {
    "a command": ("{}",),
    "an option": ("solve", "--{}"),
    "an argument": ("solve", "{}"),
    "a solver": ("solve", "--solver", "{}"),
    "seconds": ("solve", "--seconds", "{}"),
}


@pytest.mark.parametrize("kind", WORDS)
def test_a_usage_error_is_short_however_much_was_given(command, kind):
    code, out, err = command(*(word.format("x" * 100_000) for word in WORDS[kind]))
    assert code == 2 and out == "" and err.startswith("Usage: ") and len(err) < 400


NAMES = {
    "a model": ("solve", "--state", "222", "--model", "{}"),
    "a puzzle": ("solve", "--state", "222", "--puzzle", "{}"),
    "a tower": ("solve", "--state", "222", "--puzzle", "hanoi_{}"),
    "a board": ("solve", "--state", "222", "--solver", "exact", "--puzzle", "lights_out_{}"),
    "instances": ("solve", "--solver", "exact", "--puzzle", "puzzle8", "--instances", "{}", "--out", "out.csv"),
    "solutions": ("solve", "--solver", "exact", "--puzzle", "lights_out_3", "--instances", "in.csv", "--out", "{}"),
    "a scramble": ("solve", "--solver", "exact", "--puzzle", "puzzle8", "--scramble", "{}"),
    "a study": ("compare", "{}"),
}


@pytest.mark.parametrize("kind", NAMES)
def test_a_name_of_5000_letters_is_told_in_one_short_sentence(refused, kind, tmp_path):
    (tmp_path / "in.csv").write_text('scramble\n""\n', encoding="utf-8")
    for letter in "x9":
        assert len(refused(*(part.format(letter * 5000) for part in NAMES[kind]))) < 350


@pytest.mark.parametrize(("name", "solver"), [("puzzle8", "exact"), ("lights_out_3", "exact"), ("puzzle8", "local")])
def test_a_solver_that_keeps_no_nodes_takes_no_limit_of_them(refused, name, solver):
    told = refused("solve", "--puzzle", name, "--scramble", "", "--solver", solver, "--max-nodes", "1000")
    assert f"The solver {solver} keeps no nodes in memory: leave out --max-nodes" in told


def run_with(*arguments, stdout=subprocess.PIPE, **environment) -> subprocess.CompletedProcess:
    """The command in a process of its own, with an environment of its own."""
    command = [sys.executable, "-m", "costtogo", *map(str, arguments)]
    return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, env=os.environ | environment)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_letters_that_the_output_does_not_know_are_replaced(encoding):
    done = run_with("solve", "--help", PYTHONIOENCODING=encoding)
    assert done.returncode == 0 and done.stderr == b"" and b" of bwas, from 0" in done.stdout


ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def test_a_locale_of_ascii_is_enough_to_solve(tmp_path):
    (tmp_path / "späce.csv").write_text("λ,lights\nλ,110 101 011\n", encoding="utf-8")
    options = ("--instances", tmp_path / "späce.csv", "--out", tmp_path / "λ.csv")
    done = run_with("solve", "--puzzle", "lights_out_3", "--solver", "exact", *options, **ASCII)
    assert (done.returncode, done.stderr) == (0, b"") and b"1 of 1 solved, written to " in done.stdout
    assert pd.read_csv(tmp_path / "λ.csv")["solved"].tolist() == [True]


CHECK = ("check", f"{cli.__file__.rpartition('/src/')[0]}/config/local_vi.yaml")
PRINTED = [(("--help",), ""), (CHECK, ""), (CHECK, "1")]  # by typer, as Python ends, and at once


@pytest.mark.parametrize(("arguments", "unbuffered"), PRINTED)
def test_an_output_without_room_is_told_in_one_sentence(arguments, unbuffered):
    with open("/dev/full", "wb") as full:
        done = run_with(*arguments, stdout=full, PYTHONUNBUFFERED=unbuffered)
    told = done.stderr.decode().removesuffix("\n").removeprefix("costtogo: ")
    assert done.returncode == 1 and "Cannot print: No space left" in told and is_one_sentence(told)


@pytest.mark.parametrize(("arguments", "unbuffered"), PRINTED)
def test_an_output_that_nobody_reads_any_more_ends_the_command_without_a_word(arguments, unbuffered):
    reader, writer = os.pipe()
    os.close(reader)
    done = run_with(*arguments, stdout=writer, PYTHONUNBUFFERED=unbuffered)
    os.close(writer)
    assert done.stderr == b"" and done.returncode == 1


def test_an_interruption_is_told_in_one_sentence(command, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("costtogo.params.loading.load", interrupted)
    assert command("check") == (130, "", "costtogo: interrupted.\n")


def shown(out: str) -> dict[str, str]:
    """The lines below the drawing."""
    names = ("solution", "length", "optimum", "lower bound", "network", "nodes expanded", "seconds")
    return {name: line[16:] for line in out.splitlines() for name in names if line.startswith(name)}


@pytest.mark.parametrize(
    ("given", "start"), [(("--scramble", "0>2 0>1 2>1"), after("0>2 0>1 2>1")), (("--state", "222"), HANOI.start)]
)
def test_solve_shows_the_start_and_a_solution_that_replays(command, model, given, start):
    code, out, err = command("solve", "--model", model, *given)
    assert code == 0 and err == ""
    assert out.startswith(HANOI.draw(start))
    found = shown(out)
    assert found.keys() == {"solution", "length", "optimum", "network", "nodes expanded", "seconds"}
    optimum = int(HANOI_DISTANCE[HANOI.rank(start[None])[0]])
    assert found["optimum"] == f"{optimum} moves (proved)" and found["network"] == model
    assert replays(start, found["solution"])
    assert found["length"] == f"{len(found['solution'].split())} moves" and int(found["nodes expanded"]) > 0


def test_solve_says_that_the_goal_is_solved(command, model):
    _, out, _ = command("solve", "--puzzle", "hanoi_3", "--model", model, "--state", "000")
    assert shown(out)["solution"] == "(solved already)" and shown(out)["length"] == "0 moves"


@pytest.mark.parametrize(
    ("column", "texts"), [("scramble", ["0>2", "", "0>1 0>2 1>2"]), ("state", ["200", "222", "012"])]
)
def test_solve_writes_a_row_for_each_instance(command, model, tmp_path, column, texts):
    pd.DataFrame({"note": "mine", column: texts}).to_csv(tmp_path / "in.csv", index=False)
    code, out, _ = command("solve", "--model", model, "--instances", "in.csv", "--out", "out.csv")
    assert code == 0 and "3 of 3 solved" in out
    written = pd.read_csv(tmp_path / "out.csv", dtype={column: str, "solution": str}, keep_default_na=False)
    assert {*written.columns} == {column, *WITH_OPTIMA, "note"} and (written["note"] == "mine").all()
    starts = [HANOI.parse_state(text) if column == "state" else after(text) for text in texts]
    assert written["optimal_moves"].tolist() == HANOI_DISTANCE[HANOI.rank(np.array(starts))].tolist()
    assert written[column].tolist() == texts and written["solved"].all()
    for row in written.itertuples():
        start = HANOI.parse_state(row[1]) if column == "state" else after(row[1])
        assert replays(start, row.solution) and row.length == len(row.solution.split())


def test_solve_writes_unsolved_instances_as_unsolved(command, model, tmp_path):
    (tmp_path / "in.csv").write_text("state\n000\n222\n")
    options = ("--model", model, "--instances", "in.csv", "--out", "out.csv", "--max-expansions", 2)
    assert "1 of 2 solved" in command("solve", *options)[1]
    written = pd.read_csv(tmp_path / "out.csv")
    assert written["solved"].tolist() == [True, False]
    assert written["length"].isna().tolist() == [False, True]


@pytest.mark.parametrize("name", ["in.csv", "./folder/../in.csv", "link.csv", "other.csv"])
def test_solutions_never_replace_their_instances(refused, model, tmp_path, name):
    """Under another spelling, through a link, and where two names are of one file."""
    (tmp_path / "in.csv").write_text("state\n222\n", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.csv").symlink_to("in.csv")
    (tmp_path / "other.csv").hardlink_to(tmp_path / "in.csv")
    told = refused("solve", "--model", model, "--instances", "in.csv", "--out", name)
    assert "is the file of --instances" in told and (tmp_path / "in.csv").read_bytes() == b"state\n222\n"


def test_a_folder_for_the_solutions_is_refused_before_anything_is_read(refused, tmp_path):
    options = ("--model", "none", "--instances", "none.csv", "--out", tmp_path)
    assert "is a folder: name the CSV file" in refused("solve", *options)


def test_the_solution_of_one_state_goes_to_no_file(refused, model):
    assert "Leave out --out" in refused("solve", "--model", model, "--state", "222", "--out", "out.csv")


def test_solutions_that_are_printed_are_printed_once_with_nothing_else(model, tmp_path):
    (tmp_path / "in.csv").write_text("state\n222\n000\n", encoding="utf-8")
    options = ["solve", "--model", model, "--instances", "in.csv", "--out", "/proc/self/fd/1"]
    done = subprocess.run([sys.executable, "-m", "costtogo", *options], cwd=tmp_path, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 3 and lines[0] == ",".join(["state", *WITH_OPTIMA]), done
    assert "2 of 2 solved" in done.stderr and done.returncode == 0


STATES = ["222", "000", "012", "201"]
SOLVE_MANY = ("solve", "--solver", "exact", "--puzzle", "hanoi_3", "--instances", "in.csv", "--out", "out.csv")


@pytest.fixture
def many(tmp_path, monkeypatch):
    """A file of states, and what interrupts their search as it comes to the row of a number."""
    (tmp_path / "in.csv").write_text("\n".join(["state", *STATES, ""]))

    def interrupt(row: int) -> None:
        starts = []

        def solution_of(*arguments):
            starts.append(arguments)
            if len(starts) > row:
                raise KeyboardInterrupt
            return solution.solution_of(*arguments)

        monkeypatch.setattr("costtogo.solving.searches.solution_of", solution_of)

    return interrupt


def without_seconds(path) -> list:
    return pd.read_csv(path, dtype=str).drop(columns="seconds").to_numpy().tolist()


@pytest.mark.parametrize("row", range(4))
def test_an_interrupted_run_keeps_its_rows_says_how_many_and_goes_on_from_them(command, many, tmp_path, row):
    assert command(*SOLVE_MANY)[0] == 0
    (tmp_path / "out.csv").rename(tmp_path / "whole.csv")
    many(row)
    code, out, err = command(*SOLVE_MANY)
    told, last = err.splitlines()
    assert (code, out, last) == (130, "", "costtogo: interrupted.") and is_one_sentence(told)
    if row == 0:
        assert told == "No row is finished yet." and not (tmp_path / "out.csv").exists()
        return
    assert told == f"{row} of 4 rows are kept in out.csv; the same command goes on from there."
    assert without_seconds(tmp_path / "out.csv") == without_seconds(tmp_path / "whole.csv")[:row]
    begun = (tmp_path / "out.csv").read_text()
    many(0)
    assert command(*SOLVE_MANY)[2].splitlines()[1] == told and (tmp_path / "out.csv").read_text() == begun
    many(9)
    code, out, err = command(*SOLVE_MANY)
    assert code == 0 and err == f"{row} of 4 rows are in out.csv already; --overwrite searches them again.\n"
    assert out == "4 of 4 solved, written to out.csv\n4 of them at the optimal length by the exact distances\n"
    assert (tmp_path / "out.csv").read_text().startswith(begun)
    assert without_seconds(tmp_path / "out.csv") == without_seconds(tmp_path / "whole.csv")


def test_rows_are_written_from_the_first_on(command, many, tmp_path, monkeypatch):
    seen = []
    clock = iter([0, 0, 5, 5, 10, 10, 15, 15])
    monkeypatch.setattr("costtogo.commands.solve.time", SimpleNamespace(monotonic=clock.__next__))
    monkeypatch.setattr("costtogo.commands.solve.with_progress", lambda states, *_: watched(states))

    def watched(states):
        for state in states:
            yield state
            seen.append(len(pd.read_csv(tmp_path / "out.csv")))

    assert command(*SOLVE_MANY)[0] == 0 and seen == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "content", ["mine\n1\n", "state,key\n222,0\n", "state\n222\n", "a\x00b", "{others}", "state,solution,key\n"]
)
def test_a_file_of_other_instances_or_settings_is_refused_and_kept_unless_it_may_be_replaced(
    command, refused, many, tmp_path, content
):
    if content == "{others}":
        (tmp_path / "other.csv").write_text("state\n111\n222\n")
        assert command(*SOLVE_MANY[:6], "other.csv", *SOLVE_MANY[7:])[0] == 0
    else:
        (tmp_path / "out.csv").write_text(content)
    before = (tmp_path / "out.csv").read_bytes()
    refused(*SOLVE_MANY)
    assert (tmp_path / "out.csv").read_bytes() == before
    code, out, err = command(*SOLVE_MANY, "--overwrite")
    assert (code, err) == (0, "") and "4 of 4 solved" in out
    assert "other instances or settings" in refused(*SOLVE_MANY, "--seconds", "9")


def test_a_solution_shorter_than_the_optimum_of_a_file_is_told(command, tmp_path):
    (tmp_path / "in.csv").write_text("state,optimal_moves\n222,9\n000,0\n")
    code, out, _ = command(*SOLVE_MANY)
    assert code == 0 and out.splitlines()[1:] == [
        "1 of them at the optimal length by in.csv", "1 of them shorter, so that in.csv cannot be right",
    ]  # fmt: skip


@pytest.mark.parametrize("closed", [[0], [1], [2], [0, 1, 2]])
@pytest.mark.parametrize(
    "words",
    [("solve", "--puzzle", "hanoi_3", "--solver", "exact", "--state", "222"), ("check", "none.yaml"), ("--help",),
     ("solve", "--nothing"), SOLVE_MANY, ("--version",)],
    ids=lambda words: " ".join(words[:2]),
)  # fmt: skip
def test_closed_streams_leave_no_traceback(words, closed, tmp_path):
    (tmp_path / "in.csv").write_text("state\n222\n")

    def close():
        for number in closed:
            os.close(number)

    command = [sys.executable, "-m", "costtogo", *words]
    with (tmp_path / "out").open("w") as out, (tmp_path / "err").open("w") as err:
        done = subprocess.run(command, cwd=tmp_path, stdout=out, stderr=err, preexec_fn=close)
    assert done.returncode == {"check": 1, "--nothing": 2}.get(words[-1] if words[0] == "solve" else words[0], 0)
    assert "Traceback" not in (tmp_path / "err").read_text() and ((tmp_path / "out").read_text() == "") == (
        1 in closed or done.returncode > 0
    )


def test_an_interrupt_while_the_command_loads_leaves_no_traceback(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import builtins, os, signal\nwhole = builtins.__import__\n"
        "def imported(name, *more, **named):\n"
        "    if name == 'typer':\n        os.kill(os.getpid(), signal.SIGINT)\n"
        "    return whole(name, *more, **named)\n"
        "builtins.__import__ = imported\n"
    )
    path = os.pathsep.join([str(tmp_path), str(Path(cli.__file__).parents[1])])
    done = subprocess.run(
        [sys.executable, "-m", "costtogo", "--help"], env={**os.environ, "PYTHONPATH": path}, capture_output=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")


@pytest.fixture(scope="module")
def cube_model(tmp_path_factory) -> str:
    """A checkpoint of a network of the 3×3×3 that takes every child for about 20 moves away."""
    path = tmp_path_factory.mktemp("models") / "000000.safetensors"
    architecture = architecture_of(first_layers=[8], residual_blocks=0, outputs="actions")
    network = networks.build(architecture, CUBE, seed=0)
    torch.nn.init.constant_(network.output.bias, 20)
    networks.save(path, network, {"puzzle": "cube3", "precision": "float32"})
    return str(path)


BOARDS = {  # a state two moves from the goal, and what is drawn of it
    "puzzle15": ("1 2 3 4 5 6 7 8 9 10 11 12 13 0 14 15", " 9 10 11 12\n13  . 14 15"),
    "lights_out_3": ("110 101 011", "# # .\n# . #\n. # #"),
}
OF_STATES = "puzzle15"  # its network tells one value for a state


@pytest.fixture
def board_study(request, tmp_path):
    """A folder with the study of a puzzle, as the workflow leaves it: two untrained networks, one the headline."""
    puzzle = make(request.param)
    study = tmp_path / "results" / puzzle.name
    outputs = "state" if puzzle.name == OF_STATES else "actions"
    architecture = architecture_of(first_layers=[8], residual_blocks=0, outputs=outputs)
    description = {"puzzle": puzzle.name, "precision": "float32"}
    networks.save(study / "models/tiles/0.safetensors", networks.build(architecture, puzzle, seed=0), description)
    write_frame(study / "models/tiles/checkpoints.parquet", pd.DataFrame({"iteration": [0], "file": ["0.safetensors"]}))
    for name in ("first", "tiles"):  # the first has no network: taking it would fail
        write_json(study / f"models/{name}.json", {"parameters": {"puzzle": puzzle.name}})
    asked = {"puzzles": {puzzle.name: {"headline": "tiles"}}}
    write_json(study / "report/report.json", {"parameters": asked})
    return puzzle


@pytest.mark.parametrize("board_study", BOARDS, indirect=True)
def test_solve_finds_the_network_of_a_large_boards_study_and_tells_its_length_in_moves(board_study, command, tmp_path):
    name, (state, drawn) = board_study.name, BOARDS[board_study.name]
    code, out, err = command("solve", "--puzzle", name, "--state", state, "--seconds", "60", "--heuristic", "network")
    assert code == 0 and err == "" and drawn in out and "length          2 moves\n" in out and "turns" not in out
    assert "optimum         2 moves (proved)\n" in out and "network         tiles of the study" in out
    moves = board_study.format_moves([1, 3])
    for column, text in (("state", state), ("scramble", moves)):
        pd.DataFrame({column: [text]}).to_csv(tmp_path / "in.csv", index=False)
        options = ("--instances", "in.csv", "--out", f"{column}.csv", "--seconds", "60", "--heuristic", "network")
        assert "1 of 1 solved" in command("solve", "--puzzle", name, *options)[1]
        written = pd.read_csv(tmp_path / f"{column}.csv")
        assert list(written) == [column, *COLUMNS, "key"] and written["length"].tolist() == [2]


@pytest.mark.parametrize("name", BOARDS)
def test_a_large_board_without_a_network_is_told_with_what_trains_one(name, refused, monkeypatch, tmp_path):
    studies = Path(__file__).parents[1] / "config"
    monkeypatch.setattr(model_cards, "STUDIES", studies)
    monkeypatch.setattr(model_cards, "packaged_folder", lambda: tmp_path / "none")
    told = refused("solve", "--puzzle", name, "--state", BOARDS[name][0], "--solver", "bwas")
    study = f"snakemake --cores all {name}" if (studies / f"{name}.yaml").exists() else "by a study of yours"
    assert f"no trained network of {name}" in told and study in told
    assert "--solver exact" in told


def test_solve_grows_a_tree_over_a_network_with_a_policy_and_over_no_other(command, refused, cube_model, tmp_path):
    puzzle = make("puzzle8")
    architecture = architecture_of(outputs="policy", first_layers=[16])
    path = tmp_path / "policy.safetensors"
    description = {"puzzle": "puzzle8", "precision": "float32", "iteration": 1}
    networks.save(path, networks.build(architecture, puzzle, 0), description)
    asked = ("solve", "--model", path, "--scramble", "D R U L D", "--solver", "mcts")
    code, out, _ = command(*asked)
    assert (
        code == 0
        and "optimum         5 moves (proved)\n" in out
        and int(shown(out)["nodes expanded"].replace(",", "")) > 1
    )
    assert "raise --max-expansions" in refused(*asked, "--max-expansions", 1)
    assert "leave out --path-weight" in refused(*asked, "--path-weight", 1)
    assert "leave out --path-weight" in refused(*asked, "--average", 2)
    assert "with a policy" in refused("solve", "--model", cube_model, "--scramble", "R", "--solver", "mcts")


def test_solve_searches_a_large_puzzle_by_beams_that_a_policy_guides(command, tmp_path, monkeypatch):
    puzzle, path, asked = make("cube3"), tmp_path / "policy.safetensors", []
    architecture = architecture_of(outputs="policy", first_layers=[16])
    description = {"puzzle": "cube3", "precision": "float32", "iteration": 1}
    networks.save(path, networks.build(architecture, puzzle, 0), description)
    children = PolicyGuide.children
    monkeypatch.setattr(PolicyGuide, "children", lambda self, states: asked.append(1) or children(self, states))
    code, out, _ = command("solve", "--model", path, "--scramble", "R U F' L2 D B", "--seconds", 2)
    assert code == 0 and "7 quarter turns" in out and asked


FAR_CUBE = "R U F' L2 D B R2 U' F D2 L B' U R D' F2 L U2 B R'"


def test_solve_walks_straight_to_the_goal_from_within_the_exact_table(command, cube_model):
    for solver in (("greedy",), ("bwas", "--batch-size", 1)):
        code, out, _ = command("solve", "--model", cube_model, "--scramble", "R U F' L", "--solver", *solver)
        assert code == 0 and "length          4 quarter turns\n" in out and shown(out)["nodes expanded"] == "4"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("bwas", "--max-nodes", "3000"), "Not solved: memory held the nodes allowed after"),
        (("bwas", "--max-expansions", "2000"), "expansions; raise --max-expansions"),
        (("greedy", "--max-expansions", "30"), "Not solved within 30 expansions; raise --max-expansions"),
        (("greedy", "--path-weight", "0.3"), "leave out --path-weight and --batch-size"),
        (("beam", "--max-expansions", "30"), "leave out --path-weight and --max-expansions"),
        (("rising", "--path-weight", "1"), "or choose --solver bwas"),
        (("beam", "--batch-size", "30"), "leave out --batch-size"),
        (("bwas", "--path-weight", "1", "--seconds", "0.2"), "Not solved within 0.2 seconds"),
    ],
)
def test_solve_says_why_a_search_of_a_large_puzzle_ended(refused, cube_model, options, reason):
    assert reason in refused("solve", "--model", cube_model, "--scramble", FAR_CUBE, "--solver", *options)


BAD_CHOICES = {
    "no instance": ((), "Give one of --scramble"),
    "two instances": (("--scramble", "0>2", "--state", "200"), "Give one of --scramble"),
    "unknown move": (("--scramble", "0>2 0~1"), "Unknown move '0~1' at character 5"),
    "illegal move": (("--scramble", "0>2 0>2"), "Move 2, 0>2, is not legal there"),
    "wrong length": (("--state", "2222"), "hanoi_3 has 3 disks, but the pegs of 4 were given"),
    "unknown peg": (("--state", "223"), "Unknown peg '3'"),
    "wrong puzzle": (("--puzzle", "cube2", "--state", "222"), "was trained on hanoi_3, not on cube2"),
    "unknown puzzle": (("--puzzle", "cube4", "--state", "222"), "Unknown puzzle 'cube4'"),
    "path weight": (("--state", "222", "--path-weight", "2.5"), "λ must lie between 0 and 2, not at 2.5"),
    "batch size": (("--state", "222", "--batch-size", "1000001"), "N must lie between 1 and 1,000,000, not at 1000001"),
    "too few expansions": (("--state", "222", "--max-expansions", "1"), "raise --max-expansions"),
    "no out": (("--instances", "in.csv"), "give --out"),
    "missing file": (("--instances", "none.csv", "--out", "out.csv"), "Cannot read none.csv: No such file"),
}


@pytest.mark.parametrize("kind", BAD_CHOICES)
def test_a_bad_choice_is_told_in_one_sentence(kind, refused, model):
    arguments, reason = BAD_CHOICES[kind]
    assert reason in refused("solve", "--model", model, *arguments)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("moves\n0>2\n", "in.csv: line 1: 'moves' is neither a state nor a scramble"),
        ("scramble\n0>2\nR\n", "in.csv, line 3: Unknown move 'R'"),
        ("state\n22\n", "in.csv, line 2: hanoi_3 has 3 disks"),
        ("", "in.csv: it has no rows"),
        ('state\n"222\n', "in.csv: line 2: unexpected end of data"),
    ],
)
def test_a_bad_file_of_instances_is_told_in_one_sentence_and_nothing_is_written(
    content, reason, refused, model, tmp_path
):
    (tmp_path / "in.csv").write_text(content)
    assert reason in refused("solve", "--model", model, "--instances", "in.csv", "--out", "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_a_model_that_is_missing_or_damaged_is_told_in_one_sentence(refused, tmp_path):
    assert "Cannot read none.safetensors" in refused("solve", "--model", "none.safetensors", "--state", "222")
    (tmp_path / "bad.safetensors").write_text("not a network")
    assert "bad.safetensors is damaged" in refused("solve", "--model", "bad.safetensors", "--state", "222")
    (tmp_path / "folder").mkdir()
    assert "Cannot read folder/checkpoints.parquet" in refused("solve", "--model", "folder", "--state", "222")
    greedy = ("solve", "--puzzle", "hanoi_3", "--state", "222", "--solver", "greedy")
    assert "no trained network of hanoi_3" in refused(*greedy)
    assert "Name the puzzle" in refused("solve", "--state", "222")


def test_a_stage_by_hand_is_told_what_it_takes(refused):
    assert "There is no stage nothing" in refused("stage", "nothing", "--params", "p.json")
    assert "needs --out" in refused("stage", "tables", "--params", "p.json")
    assert "takes --out" in refused("stage", "tables", "--params", "p.json", "--table", "t.npz")
    assert "takes --out" in refused("stage", "tables", "--params", "p.json", "--out")


def test_check_names_every_training(command, tmp_path):
    root = cli.__file__.rpartition("/src/")[0]
    code, out, _ = command("check", f"{root}/config/smoke.yaml")
    assert code == 0 and out.startswith("Study smoke: 2 puzzles listed, 4 trainings.")
    assert "H4_DNN_reduced_0: hanoi_4, davi, adaptive_k, 300 iterations" in out


def test_table_and_instances_leave_their_results_and_cards(command, tmp_path):
    sets = {"start": {"kind": "start"}, "uniform": {"kind": "uniform", "states": 5}}
    table, instances = "results/tiny/tables/hanoi_3.npz", "results/tiny/instances/hanoi_3.parquet"
    asked = {"study": "tiny", "puzzle": "hanoi_3"}
    listing = write_recipe("tables", Path("results/tiny/tables/hanoi_3"), asked)
    asked |= {"seed": 1, "instances": sets, "distributions": {"walks": 10, "walk_max": [4]}}
    drawing = write_recipe("instances", Path("results/tiny/instances/hanoi_3"), asked)
    assert command("stage", "tables", "--params", str(listing), "--out", table)[0] == 0
    assert command("stage", "instances", "--params", str(drawing), "--table", table, "--out", instances)[0] == 0
    distance, frame = read_arrays(table)["distance"], read_frame(instances)
    assert distance.max() == 7 and len(distance) == 27
    assert frame["set"].tolist() == ["start"] + 5 * ["uniform"]
    assert frame["distance"].tolist() == distance[frame["rank"]].tolist()
    card = read_json("results/tiny/instances/hanoi_3.json")
    assert card["metrics"] == {"start": 1, "uniform": 5} and list(card["inputs"]) == [table]
    assert read_frame("results/tiny/instances/hanoi_3/distributions.parquet")["sampled"].sum() == 2 * 40
    written = [path for group in ("tables", "instances") for path in tmp_path.glob(f"results/tiny/{group}/**/*.*")]
    first = {path: path.read_bytes() for path in written}
    assert command("stage", "tables", "--params", str(listing), "--out", table)[0] == 0
    assert command("stage", "instances", "--params", str(drawing), "--table", table, "--out", instances)[0] == 0
    assert first == {path: path.read_bytes() for path in first} and len(first) == 5


def test_what_needs_a_project_says_so_elsewhere(refused, tmp_path):
    for words in (("report", "none"), ("compare", "none")):
        assert refused(*words).endswith("; start this in the project's folder: here is none.")
    (tmp_path / "workflow").mkdir()
    for words in (("report", "none"), ("compare", "none")):
        assert "start this in" not in refused(*words)


def test_track_says_where_nothing_is_finished(refused):
    assert f"There is no study in {Path('results').absolute()}" in refused("track")


@pytest.mark.parametrize(
    ("name", "state", "length"),
    [("puzzle15", "9 1 7 4 5 10 8 14 15 6 2 11 13 0 12 3", 38)],
)
def test_solve_exactly_without_a_study_builds_a_small_database_and_keeps_it(
    command, monkeypatch, tmp_path, name, state, length
):
    exact._small_database.cache_clear()  # which another test may have filled
    monkeypatch.setattr(exact, "QUICKLY_BUILT", 3)
    monkeypatch.setenv("COSTTOGO_CACHE", str(tmp_path))
    code, out, err = command("solve", "--puzzle", name, "--state", state, "--solver", "exact")
    assert code == 0 and f"length          {length} moves\noptimum         {length} moves (proved)" in out
    assert f"no pattern database of {name}" in err and f"snakemake --cores all {name}" in err
    exact._small_database.cache_clear()
    code, again, err = command("solve", "--puzzle", name, "--state", state, "--solver", "exact")
    assert shown(again) | {"seconds": ""} == shown(out) | {"seconds": ""} and err == ""
    puzzle = make(name)
    assert puzzle.is_goal(apply(puzzle, puzzle.parse_state(state), puzzle.parse_moves(shown(out)["solution"]))[None])


def save_database(puzzle: str, name: str, database: pattern_database.PatternDatabase) -> None:
    """A database of a study in the working folder, with the card that its stage writes."""
    path = Path("results") / puzzle / "pattern_databases" / f"{name}.npz"
    pattern_database.save(path, database)
    card = {"parameters": {"puzzle": puzzle}, "inputs": {}, "outputs": {str(path): digest(path)}}
    write_json(path.with_suffix(".json"), card)
    exact._is_of_study.cache_clear()


def test_a_pattern_database_that_no_stage_wrote_is_left_aside(command, tmp_path):
    exact._small_database.cache_clear(), exact._is_of_study.cache_clear()
    path = tmp_path / "results/puzzle15/pattern_databases/zeros.npz"
    zeros = pattern_database.build(4, "-".join(["2"] * 7) + "-1")
    pattern_database.save(path, replace(zeros, values=np.full_like(zeros.values, 60)))
    code, out, err = command("solve", "--puzzle", "puzzle15", "--scramble", "D R U", "--solver", "exact")
    assert code == 0 and "optimum         3 moves (proved)" in out and "zeros.npz is not what a stage wrote" in err


def test_solve_exactly_goes_by_the_database_that_the_study_finds_optima_by(command, tmp_path):
    folder = tmp_path / "results/puzzle15"
    partitions = {"pairs": "-".join(["2"] * 7) + "-1", "threes": "3-3-3-3-3"}
    for name, partition in partitions.items():
        save_database("puzzle15", name, pattern_database.build(4, partition))
    far, nodes = "9 1 7 4 5 10 8 14 15 6 2 11 13 0 12 3", {}
    for name in ("threes", "pairs", None):
        if name is not None:
            card = {"parameters": {"optima": {"pattern_database": name}}}
            write_json(folder / "optima/puzzle15.json", card)
        else:
            (folder / "optima/puzzle15.json").unlink()
        code, out, err = command("solve", "--puzzle", "puzzle15", "--state", far, "--solver", "exact")
        assert (code, err) == (0, "") and "length          38 moves\n" in out
        nodes[name] = int(shown(out)["nodes expanded"].replace(",", ""))
    assert nodes["threes"] < nodes["pairs"] and nodes[None] == nodes["threes"], "the largest where none is named"


def test_solve_exactly_reads_a_puzzle_whose_states_are_listed_from_the_table(command):
    code, out, err = command("solve", "--puzzle", "hanoi_3", "--state", "222", "--solver", "exact")
    found = shown(out)
    assert (code, err) == (0, "") and found["length"] == "7 moves" and found["nodes expanded"] == "7"
    assert replays(HANOI.start, found["solution"])


def test_solve_exactly_finds_the_fewest_presses(command):
    code, out, err = command("solve", "--puzzle", "lights_out_3", "--state", "110 101 011", "--solver", "exact")
    assert (code, err) == (0, "") and "length          2 moves\noptimum         2 moves (proved)" in out


@pytest.mark.parametrize(
    ("name", "scramble", "length"),
    [("cube2", "R U2 B' R", "5 quarter turns"), ("cube3", "R U2 F' L D2 B", "8 quarter turns")],
)
def test_solve_exactly_finds_the_fewest_quarter_turns_of_cubes(command, name, scramble, length):
    code, out, err = command("solve", "--puzzle", name, "--scramble", scramble, "--solver", "exact")
    assert code == 0 and length in out + err


def test_solve_exactly_tells_the_bound_of_a_cube_that_is_too_far(refused, monkeypatch):
    cosets = Cosets(CUBE, half_turns=False, arranged=False)
    rows = build(cosets, near_share=1e-5)
    monkeypatch.setattr("costtogo.solving.exact.find_cosets", lambda *asked: (cosets, rows))
    scramble = "R U F' L2 D B U2 R' F D L B2 U' R2 F' D2 L' B U R"
    told = refused("solve", "--puzzle", "cube3", "--scramble", scramble, "--solver", "exact", "--seconds", "0.3")
    assert "moves or more; raise --seconds" in told


def test_solve_exactly_writes_bounds_and_compares_with_the_lengths_of_the_file(command, tmp_path):
    near = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 0 15"
    (tmp_path / "in.csv").write_text(f"tiles,optimal_moves\n9 1 7 4 5 10 8 14 15 6 2 11 13 0 12 3,38\n{near},3\n")
    options = ("--puzzle", "puzzle15", "--instances", "in.csv", "--out", "out.csv", "--solver", "exact")
    code, out, _ = command("solve", *options)
    assert code == 0 and "2 of 2 solved" in out and "1 of them at the optimal length by in.csv" in out
    written = pd.read_csv(tmp_path / "out.csv")
    told = ["nodes_expanded", "nodes_generated", "lower_bound", "seconds", "solved", "optimal_moves"]
    assert list(written) == ["tiles", "solution", "length", *told, "key"]
    assert written[["length", "lower_bound", "optimal_moves"]].values.tolist() == [[38, 38, 38], [1, 1, 3]]
    command("solve", *options, "--seconds", "0", "--overwrite")
    written = pd.read_csv(tmp_path / "out.csv")
    assert not written["solved"].any() and written["length"].isna().all() and (written["lower_bound"] <= [38, 1]).all()


def test_solve_exactly_tells_the_bound_when_its_time_is_up(refused, tmp_path):
    pairs = "-".join(["2"] * 12)
    save_database("puzzle24", "pairs", pattern_database.build(5, pairs))
    far = " ".join(str(tile) for tile in range(24, 0, -1)) + " 0"
    told = refused("solve", "--puzzle", "puzzle24", "--state", far, "--solver", "exact", "--seconds", "0.2")
    assert "Not solved within 0.2 seconds" in told and "moves or more; raise --seconds" in told


NOT_EXACT = {
    "a network": (("--puzzle", "puzzle8", "--scramble", "R", "--model", "m"), "leave out --model"),
    "no puzzle": (
        (
            "--scramble",
            "R",
        ),
        "Name the puzzle",
    ),
    "other options": (
        ("--puzzle", "puzzle8", "--scramble", "R", "--path-weight", "0.3"),
        "leave out the options of those that do",
    ),
    "unreachable": (("--puzzle", "puzzle8", "--state", "2 1 3 4 5 6 7 8 0"), "two tiles are exchanged"),
}


@pytest.mark.parametrize("kind", NOT_EXACT)
def test_what_cannot_be_solved_exactly_is_told_in_one_sentence(kind, refused):
    arguments, reason = NOT_EXACT[kind]
    assert reason in refused("solve", "--solver", "exact", *arguments)


@pytest.mark.parametrize("name", ["puzzle8", "puzzle15", "puzzle24", "puzzle48"])
def test_solve_by_local_value_iteration_needs_no_study(name, command, refused):
    puzzle = make(name)
    state = puzzle.format_state(random_walks(puzzle, 1, 300, np.random.default_rng(0))[0, -1])
    code, out, err = command("solve", "--puzzle", name, "--state", state, "--solver", "local")
    assert (code, err) == (0, "")
    solution = puzzle.parse_moves(shown(out)["solution"])
    assert puzzle.is_goal(apply(puzzle, puzzle.parse_state(state), solution)[None])
    known = shown(out)
    assert float(known.get("optimum", known.get("lower bound")).split()[0]) <= len(solution)
    for options, reason in ((("--seconds", "1"), "done at once"), (("--batch-size", "5"), "searches over no network")):
        assert reason in refused("solve", "--puzzle", name, "--state", state, "--solver", "local", *options)


def test_local_value_iteration_is_for_sliding_tiles_alone(refused):
    told = refused("solve", "--puzzle", "lights_out_3", "--state", "110 101 011", "--solver", "local")
    assert "There is no local solver of lights_out_3, only of sliding tiles" in told


def test_check_tells_of_the_study_of_local_value_iteration(command):
    code, out, _ = command("check", str(Path(__file__).parent.parent / "config" / "local_vi.yaml"))
    assert code == 0 and out == "Study local_vi: 0 puzzles listed, 0 trainings.\n  puzzle15: local vi\n"


def test_threads_that_wait_for_each_other_sleep_unless_the_user_says_otherwise():
    """The library of threads reads its settings when torch loads it, which is after costtogo was imported."""
    names = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")
    told = f"import os, costtogo; print(*(os.environ.get(name, '-') for name in {names}))"
    active = {"OMP_WAIT_POLICY": "active"}
    for environment, wanted in (({}, "passive 1000"), ({"GOMP_SPINCOUNT": "5"}, "passive 5"), (active, "active -")):
        clean = {name: value for name, value in os.environ.items() if name not in names}
        done = subprocess.run([sys.executable, "-c", told], env=clean | environment, capture_output=True, text=True)
        assert done.stdout.strip() == wanted


def test_a_row_that_cannot_be_read_is_marked_and_the_others_are_solved(command, refused, tmp_path):
    (tmp_path / "in.csv").write_text("id;scramble;optimal_moves\na;0>2;1\nb;0>9;\nc;0>1;\n", encoding="utf-8")
    options = ("--puzzle", "hanoi_3", "--solver", "exact", "--instances", "in.csv", "--out", "out.csv")
    assert "in.csv, line 3: " in refused("solve", *options)
    code, out, _ = command("solve", *options, "--keep-going")
    written = pd.read_csv(tmp_path / "out.csv", keep_default_na=False)
    assert code == 0 and "2 of 3 solved" in out and written["id"].tolist() == ["a", "b", "c"]
    assert written["solved"].tolist() == [True, False, True] and written["length"].tolist() == ["1", "", "1"]
    assert [bool(fault) for fault in written["fault"]] == [False, True, False]
