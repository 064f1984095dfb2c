"""A puzzle of another package, found by its entry point: the package that docs/own_puzzle.md shows."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from messages import is_one_sentence
from stage_recipes import write_recipe

from costtogo import puzzles, sources
from costtogo.exact.bfs import distances
from costtogo.exact.graph import graph_of
from costtogo.figures.states import two_states
from costtogo.files import read_arrays, read_json
from costtogo.params.loading import load
from costtogo.params.study import modules_of
from costtogo.puzzles import make, modules, title
from costtogo.puzzles.base import apply, random_walks
from costtogo.stages import tables
from costtogo.types import UserError
from costtogo.workflow.stages import stages_of

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "own_puzzle.md").read_text(encoding="utf-8")
RULES, FAMILY = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
ENTRY = "[costtogo.puzzles]\ndials = dials:FAMILY\n"


def forget() -> None:
    """Forget what is known of modules and families, as a new process does."""
    for name in [name for name in sys.modules if name.split(".")[0] == "dials"]:
        del sys.modules[name]
    for known in (sources._closure, sources._file, sources._source, sources._folder_of, puzzles._families_outside):
        known.cache_clear()
    puzzles._made.cache_clear()


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a package of some files into a folder that Python looks into; the folder."""

    def files(**content: str) -> Path:
        for name, text in ({"entry_points": ENTRY, "__init__": FAMILY, "rules": RULES} | content).items():
            place = "dials-1.0.dist-info/entry_points.txt" if name == "entry_points" else f"dials/{name}.py"
            (tmp_path / place).parent.mkdir(exist_ok=True)
            (tmp_path / place).write_text(text, encoding="utf-8")
        (tmp_path / "dials-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: dials\nVersion: 1.0\n")
        forget()
        monkeypatch.syspath_prepend(tmp_path)
        return tmp_path

    yield files
    forget()


def test_a_puzzle_of_another_package_is_made_by_its_name(install):
    install()
    puzzle = make("dials_3")
    assert (puzzle.name, title("dials_3"), puzzle.state_count) == ("dials_3", "3 dials", 1000)
    assert make("dials_3") is puzzle and modules("dials_3") == ["dials.rules"]
    found = distances(graph_of(puzzle), 0)
    digits = puzzle.unrank(np.arange(1000)).astype(int)
    np.testing.assert_array_equal(found, np.minimum(digits, 10 - digits).sum(axis=1))
    state = apply(puzzle, puzzle.goal, puzzle.parse_moves("+0 -2 -2"))
    assert puzzle.format_state(state) == "108" and (puzzle.parse_state("108") == state).all()
    assert random_walks(puzzle, 2, 5, np.random.default_rng(0)).shape == (2, 5, 3)
    (axes,) = two_states(puzzle, {"goal": puzzle.goal}).axes
    assert len(axes.patches) == 3, "a picture in cells, where the family says nothing of one"


def test_a_family_draws_its_own_picture(install):
    install(
        __init__=FAMILY.replace('"Dials")', '"Dials"), picture=("dials.picture", "draw")'),
        picture="def draw(axes, puzzle, state):\n    axes.plot(state)\n",
    )
    puzzle = make("dials_3")
    (axes,) = two_states(puzzle, {"goal": puzzle.goal}).axes
    assert len(axes.lines) == 1 and not axes.patches and modules("dials_3") == ["dials.rules", "dials.picture"]


def test_a_study_of_such_a_puzzle_depends_on_the_source_of_its_package(install, tmp_path):
    install(more="NUMBER = 1\n", rules=f"from dials.more import NUMBER\n{RULES}")
    own = tmp_path / "config" / "dials_3.yaml"
    own.parent.mkdir()
    for name in ("pyraminx.yaml",):
        (own.parent / name).write_text((ROOT / "config" / name).read_text(encoding="utf-8"))
    (tmp_path / "params.yaml").write_text((ROOT / "params.yaml").read_text(encoding="utf-8"))
    own.write_text(re.findall(r"```yaml\n(.*?)```", TEXT, flags=re.DOTALL)[1])
    study = load([own])
    assert {"audits/by_action", "tables/dials_3"} <= {f"{s.group}/{s.name}" for s in stages_of(study)}
    code = sources.code_of("costtogo.stages.tables", modules_of({"puzzle": "dials_3"}))
    assert {"outside/dials/rules.py", "outside/dials/more.py", "exact/bfs.py"} <= set(code)
    (tmp_path / "dials" / "more.py").write_text("NUMBER = 2\n")
    forget()
    after = sources.code_of("costtogo.stages.tables", modules_of({"puzzle": "dials_3"}))
    assert {name for name in code if after[name] != code[name]} == {"outside/dials/more.py"}
    assert not [name for name in sources.code_of("costtogo.stages.tables", modules("cube2")) if "outside" in name]


def test_a_stage_runs_on_such_a_puzzle(install, tmp_path, monkeypatch):
    install()
    monkeypatch.chdir(tmp_path)
    out = Path("results/own/tables/dials_3.npz")
    tables.run(write_recipe("tables", out, {"study": "own", "puzzle": "dials_3"}), out)
    assert (
        len(read_arrays(out)["distance"]) == 1000 and read_json(out.with_suffix(".json"))["metrics"]["diameter"] == 15
    )


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"__init__": "raise RuntimeError('out of order')"}, "cannot be loaded (RuntimeError: out of order)"),
        ({"__init__": ""}, "cannot be loaded (AttributeError"),
        ({"__init__": "FAMILY = 1"}, "must name a costtogo.puzzles.Family"),
        ({"__init__": FAMILY.replace('"dials",', '"sliding",')}, "with a key of its own"),
    ],
)
def test_an_entry_point_of_no_family_is_told_in_one_sentence(files, reason, install):
    install(**files)
    with pytest.raises(UserError) as told:
        make("dials_3")
    assert reason in str(told.value) and "dials = dials:FAMILY" in str(told.value) and is_one_sentence(str(told.value))
    assert make("cube2").name == "cube2", "other puzzles do not look at it"
