"""What the page's workers compute: networks and solvers that are offered, searches over them, values of states."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from messages import is_one_sentence
from page_server import running

from costtogo.files import digest, write_frame, write_json
from costtogo.heuristics import network as networks
from costtogo.page import core
from costtogo.page.worker_process import plain
from costtogo.params.training import architecture_of
from costtogo.puzzles import make
from costtogo.puzzles.base import apply, solves
from costtogo.solving import model_cards
from costtogo.stages.search.loading import index_of
from costtogo.types import UserError

CUBE = make("cube3")
FAR = CUBE.format_state(apply(CUBE, CUBE.goal, CUBE.parse_moves("R U F L D B R' U2 F L2 D' B U R F' L")))
NEAR = "1 2 3 4 5 6 0 7 8"  # two moves from the goal


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A working folder with a study of the 8-puzzle, a policy and a value, and a packaged network of it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "networks").mkdir()
    monkeypatch.setattr(model_cards, "packaged_folder", lambda: tmp_path / "networks")
    pack(tmp_path / "networks" / "puzzle8.safetensors", bias=7.0)
    for name, outputs in (("policy", "policy"), ("values", "state")):
        models = tmp_path / "results" / "default" / "models"
        save(models / name / "checkpoints" / "000000.safetensors", bias=3.0, outputs=outputs)
        write_frame(
            index_of(models / name), pd.DataFrame({"iteration": [0], "file": ["checkpoints/000000.safetensors"]})
        )
        write_json(models / f"{name}.json", {"parameters": {"puzzle": "puzzle8"}})
    write_json(tmp_path / "results" / "default" / "models" / "begun.json", {"parameters": {"puzzle": "puzzle8"}})
    return tmp_path


def save(path, bias: float, **architecture) -> None:
    """A small untrained network that takes every state for about `bias` moves away."""
    network = networks.build(architecture_of(first_layers=[8], residual_blocks=0, **architecture), make("puzzle8"), 0)
    network.output.bias.data.fill_(bias)
    networks.save(path, network, {"puzzle": "puzzle8", "precision": "float32", "iteration": 0})


def pack(path, bias: float) -> None:
    """Such a network as one that is packaged, with its card."""
    save(path, bias)
    card = {"puzzle": "puzzle8", "numbers": {"solved_percent": 100}, "sha256": digest(path)}
    write_json(path.with_suffix(".json"), card)


def silent(progress: dict) -> None:
    """Nobody watches."""


def search(**fields) -> dict:
    asked = {"puzzle": "puzzle8", "model": None, "solver": "exact", "state": NEAR, "seconds": 60.0}
    found = core.search(**asked | fields, report=silent)
    json.dumps(plain(found), allow_nan=False)  # goes over the line to the server
    assert is_one_sentence(found["told"])
    return found


def test_networks_of_studies_and_of_the_package_are_offered_with_the_solvers_that_suit_each():
    found = core.offers(["puzzle8", "cube3"], silent)
    solvers = {model["name"]: model["solvers"] for model in found["puzzle8"]["models"]}
    assert list(solvers) == ["default/policy", "default/values", "puzzle8"], "what has no checkpoint yet is left out"
    assert ["mcts" in names for names in solvers.values()] == [True, False, False]
    assert found["puzzle8"]["models"][2]["numbers"] == {"solved_percent": 100}
    needs = {solver["name"]: solver["needs_model"] for solver in found["puzzle8"]["solvers"]}
    assert needs["mcts"] and needs["bwas"] and not (needs["auto"] or needs["exact"] or needs["local"])
    assert found["cube3"]["models"] == [] and "mcts" not in [each["name"] for each in found["cube3"]["solvers"]]


def test_files_that_cannot_be_read_close_the_page_of_nothing(folder):
    study = folder / "results" / "default"
    write_json(study / "report" / "report.json", {"parameters": {"puzzles": {"puzzle8": {"headline": "values"}}}})
    found = core.offers(["puzzle8", "hanoi_3"], silent)
    assert found["puzzle8"]["models"][0]["name"] == "default/values"
    assert found["hanoi_3"]["models"] == [], "the report of the default study does not know it"
    (study / "models" / "values.json").write_text("{", encoding="utf-8")
    assert core.offers(["puzzle8"], silent)["puzzle8"]["models"] == []


def test_a_network_is_the_one_of_its_name_though_another_goes_first():
    values = [core.values("puzzle8", model, [NEAR], silent)["cost_to_go"][0] for model in ("default/values", "puzzle8")]
    assert values == pytest.approx([3, 7], abs=1)


def test_a_network_that_was_trained_anew_is_the_new_one(folder):
    core.values("puzzle8", "puzzle8", [NEAR], silent)
    pack(folder / "networks" / "puzzle8.safetensors", bias=70.0)
    assert core.values("puzzle8", "puzzle8", [NEAR], silent)["cost_to_go"][0] == pytest.approx(70, abs=1)


def test_a_network_that_is_gone_is_told_in_one_sentence(folder):
    for path in (folder / "networks").iterdir():
        path.unlink()
    with pytest.raises(UserError) as refused:
        core.values("puzzle8", "puzzle8", [NEAR], silent)
    assert is_one_sentence(str(refused.value))


@pytest.mark.parametrize(
    ("solver", "model"),
    [
        ("exact", None),
        ("local", None),
        ("auto", None),
        ("auto", "puzzle8"),
        ("bwas", "puzzle8"),
        ("mcts", "default/policy"),
    ],
)
def test_a_solution_has_its_states_and_what_is_known_of_each(solver, model):
    found = search(solver=solver, model=model)["solution"]
    puzzle = make("puzzle8")
    actions = [puzzle.actions.index(move) for move in found["moves"]]
    start = puzzle.parse_state(NEAR)
    assert solves(puzzle, start[None], [actions]).all()
    assert found["states"][-1] == apply(puzzle, start, actions).tolist() == puzzle.goal.tolist()
    assert found["state_texts"] == [puzzle.format_state(np.array(state)) for state in found["states"]]
    assert (found["exact"][0], found["exact"][-1], found["optimum"]) == (2, 0, 2)
    assert all(np.isnan(value) == (model is None) for value in found["cost_to_go"])
    assert found["proved"] == (found["length"] == 2)
    assert found["lower_bound_holds"] == (solver != "bwas")
    chosen = ("exact", "the puzzle can be listed") if solver == "auto" else (solver, "")
    assert (found["solver"], found["why"]) == chosen


def test_a_known_solution_is_proved_or_a_shorter_one_is_found_and_one_that_is_none_is_refused():
    start = CUBE.format_state(apply(CUBE, CUBE.goal, CUBE.parse_moves("R U F' L2 D B R")))
    asked = {"puzzle": "cube3", "state": start, "solver": "bwas"}
    proved = search(known="R' B' D' L2 F U' R'", **asked)
    assert proved["told"] == "Solved in 8 quarter turns; no solution is shorter." and proved["solution"]["proved"]
    longer = search(known="R' B' D' L2 F U' R' L L'", **asked)
    assert longer["solution"]["length"] == 8 and longer["solution"]["why"].startswith(
        "shorter than the 10 quarter turns"
    )
    soon = search(known="R' B' D' L2 F U' R' L L'", **asked | {"seconds": 1e-9})
    assert soon["solution"]["length"] == 10 and "; a shortest solution has at least " in soon["told"]
    with pytest.raises(UserError, match="The 1 moves that are given as a solution do not solve the state"):
        search(known="R", **asked)


def test_a_search_that_finds_nothing_says_why():
    dead = search(puzzle="sokoban", state="######|#$--.#|#@---#|######")
    assert dead["solution"] is None and "pushed to no target" in dead["told"]
    soon = search(puzzle="cube3", state=FAR, seconds=0.1)
    assert soon["solution"] is None and soon["told"] == core.REASONS["seconds"]


def test_nothing_is_left_to_solve_at_the_goal():
    found = search(state="1 2 3 4 5 6 7 8 0")
    assert found["told"] == "It is solved already." and found["solution"]["length"] == 0


def test_a_long_search_tells_how_far_it_is():
    seen = []
    core.search("cube3", None, "exact", FAR, 1.0, seen.append)
    assert seen and seen[-1]["nodes_expanded"] > 0 and seen[-1]["best_length"] is None


def test_the_server_solves_over_a_network_of_a_study_in_a_process_of_its_own():
    with running("costtogo.page.core", workers=1, memory=4 << 30) as page:
        listed = {each["name"]: each for each in page.ask("GET", "/api/puzzles").json["puzzles"]}
        assert "default/values" in [model["name"] for model in listed["puzzle8"]["models"]]
        begun = page.begin("bwas", seconds=20, model="default/values", state=NEAR)
        found = page.until(begun.json["id"], "solved", "unsolved", "failed")
        assert found["status"] == "solved" and found["solution"]["state_texts"][-1] == "1 2 3 4 5 6 7 8 0", found
        assert None not in found["solution"]["cost_to_go"] + found["solution"]["exact"]


def test_what_the_package_offers_is_known_before_torch_is_loaded(folder):
    code = (
        "import sys; from pathlib import Path; from costtogo.page import core;"
        "from costtogo.solving import model_cards;"
        "model_cards.packaged_folder = lambda: Path('../networks'); found = core.offers(['puzzle8'], print)['puzzle8'];"
        "sys.exit('torch' in sys.modules or [each['name'] for each in found['models']] != ['puzzle8'])"
    )
    (folder / "elsewhere").mkdir()
    environment = {**os.environ, "PYTHONPATH": str(Path(core.__file__).parents[2])}
    done = subprocess.run([sys.executable, "-c", code], env=environment, cwd=folder / "elsewhere")
    assert done.returncode == 0


def test_a_checkpoint_that_cannot_be_read_is_not_offered(folder):
    (folder / "networks" / "puzzle8.safetensors").write_bytes(b"no tensors")
    assert "puzzle8" not in [model["name"] for model in core.offers(["puzzle8"], silent)["puzzle8"]["models"]]
