"""Solving as a library: exact knowledge, networks at hand, solutions, and searches that are watched."""

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from messages import is_one_sentence
from stage_recipes import write_recipe

from costtogo import progress, solving
from costtogo.commands import drawing
from costtogo.exact.descent import Descent
from costtogo.files import digest, read_arrays, write_arrays
from costtogo.heuristics import network as networks
from costtogo.params.training import architecture_of
from costtogo.puzzles import make
from costtogo.puzzles.base import random_walks, solves
from costtogo.search import replayed
from costtogo.solve_options import Setting
from costtogo.solving import cache, exact, model_cards
from costtogo.solving.searches import make_ready
from costtogo.solving.solution import solution_of
from costtogo.stages import tables
from costtogo.types import SearchResult, UserError

CUBE = make("cube3")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty working folder, and an empty one for what comes with the package."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "networks").mkdir()
    monkeypatch.setattr(model_cards, "packaged_folder", lambda: tmp_path / "networks")
    return tmp_path


def save(path, puzzle: str = "puzzle15", bias: float = 3.0, outputs: str = "state"):
    """A small untrained network that takes every state for about `bias` moves away."""
    architecture = architecture_of(first_layers=[8], residual_blocks=0, outputs=outputs)
    network = networks.build(architecture, make(puzzle), seed=0)
    network.output.bias.data.fill_(bias)
    networks.save(path, network, {"puzzle": puzzle, "precision": "float32", "iteration": 0})
    return path


def package(folder, name: str = "puzzle15", outputs: str = "state", **numbers):
    """A packaged network with its card."""
    path = save(folder / "networks" / f"{name}.safetensors", name, outputs=outputs)
    card = {"puzzle": name, "numbers": numbers, "sha256": digest(path)}
    (folder / "networks" / f"{name}.json").write_text(json.dumps(card), encoding="utf-8")


def test_a_descent_finds_a_shortest_solution_of_every_state_of_a_batch_and_of_each_alone(puzzle, distance):
    descent, starts = Descent(puzzle, distance), random_walks(puzzle, 20, 12, np.random.default_rng(1))[:, -1]
    found = descent.solve(starts)
    optimum = distance[puzzle.rank(starts)]
    assert found.cost.tolist() == optimum.tolist() == found.lower_bound.tolist()
    assert solves(puzzle, starts, found.solutions).all()
    for row, start in enumerate(starts):
        alone = descent.solve(start[None])
        assert alone.solutions[0].tolist() == found.solutions[row].tolist()
        assert alone.nodes_generated[0] == found.nodes_generated[row]


def test_exact_values_are_those_of_tables_of_formulas_and_near_the_goal():
    lights, level = make("lights_out_5"), make("sokoban").parse_state("#####|#@$.#|#####" + "|##########" * 0)
    pressed = lights.move(lights.goal[None], np.array([7]))
    assert exact.exact_values(lights, np.concatenate([lights.goal[None], pressed])).tolist() == [0, 1]
    assert exact.exact_values(make("sokoban"), level[None]).tolist() == [1]
    near, far = (solving.parse_start(CUBE, text) for text in ("R U", "R U F L D B R U F L D B R"))
    known = exact.exact_values(CUBE, np.array([near.state, far.state]))
    assert known[0] == 2 and np.isnan(known[1])


def test_a_dead_level_has_an_infinite_cost_to_go():
    puzzle = make("sokoban")
    dead = puzzle.parse_state("######|#$  .#|#@   #|######")
    assert exact.exact_values(puzzle, dead[None]).tolist() == [np.inf]


def test_the_cache_is_read_once_it_is_there_and_made_anew_where_it_is_damaged(tmp_path, monkeypatch):
    monkeypatch.setenv("COSTTOGO_CACHE", str(tmp_path))
    puzzle, made = make("hanoi_3"), []

    def make_it():
        made.append(1)
        return {"a": np.arange(3)}

    def read():
        return {name: array.tolist() for name, array in cache.cached("x", puzzle, puzzle.rank, make_it).items()}

    assert read() == read() == {"a": [0, 1, 2]} and len(made) == 1
    (path,) = tmp_path.iterdir()
    path.write_bytes(b"cut off")
    assert read() == read() == {"a": [0, 1, 2]} and len(made) == 2
    monkeypatch.setenv("COSTTOGO_CACHE", "/proc/nowhere")
    assert read() == {"a": [0, 1, 2]} and len(made) == 3


def changed(arrays, **others):
    """Arrays of which some are others."""
    return {**arrays, **others}


SWAPPED = {
    "of another puzzle": lambda own, other: other,
    "of another puzzle, under our name": lambda own, other: changed(other, whose=own["whose"]),
    "of nobody": lambda own, other: {name: array for name, array in own.items() if name != "whose"},
    "zeros": lambda own, other: changed(own, distance=np.zeros_like(own["distance"])),
    "reversed": lambda own, other: changed(own, distance=own["distance"][::-1]),
    "of other numbers": lambda own, other: changed(own, distance=own["distance"].astype(np.int32)),
    "in two dimensions": lambda own, other: changed(own, distance=own["distance"].reshape(2, -1)),
    "shorter": lambda own, other: changed(own, distance=own["distance"][:6]),
    "without distances": lambda own, other: changed({"whose": own["whose"]}, keys=np.zeros(2, np.uint64)),
    "of what is said to be a number": lambda own, other: changed(own, whose=np.array(3)),
}


@pytest.mark.parametrize("swap", SWAPPED)
@pytest.mark.parametrize(("what", "name", "other"), [("nearby", "cube3", "puzzle15"), ("distance", "puzzle8", "cube2")])
def test_a_cached_table_that_is_not_our_own_is_made_anew_and_replaced(swap, what, name, other, tmp_path, monkeypatch):
    monkeypatch.setenv("COSTTOGO_CACHE", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(exact, "NEARBY_STATES", 3000)

    def values(of):
        exact.descent_of.cache_clear(), exact._small_table.cache_clear()
        puzzle = make(of)
        return exact.exact_values(puzzle, random_walks(puzzle, 4, 3, np.random.default_rng(0))[:, -1]).tolist()

    def file_of(of):
        return next(tmp_path.glob(f"{what}-{of}.*.npz"))

    known = values(name), values(other)
    whole = file_of(name).read_bytes()
    write_arrays(file_of(name), **SWAPPED[swap](read_arrays(file_of(name)), read_arrays(file_of(other))))
    assert values(name) == known[0] and file_of(name).read_bytes() == whole
    exact.descent_of.cache_clear(), exact._small_table.cache_clear()


def test_a_cached_table_made_by_other_rules_is_made_anew(tmp_path, monkeypatch):
    monkeypatch.setenv("COSTTOGO_CACHE", str(tmp_path))
    puzzle, made = make("hanoi_3"), []

    def make_it():
        made.append(1)
        return {"a": np.arange(3)}

    for keyed in (puzzle.rank, puzzle.rank, lambda states: puzzle.rank(states)[::-1]):
        cache.cached("x", puzzle, keyed, make_it)
    assert len(made) == 2
    monkeypatch.setattr(cache, "random_walks", lambda *_: np.array([puzzle.goal[None]]))
    cache.cached("x", puzzle, puzzle.rank, make_it)
    assert len(made) == 3


def study_table(puzzle: str, depth: int) -> Path:
    """A study's table of the states around the goal in the working folder, made as the workflow makes it."""
    out = Path("results") / puzzle / "tables" / f"{puzzle}.npz"
    asked = {"study": puzzle, "puzzle": puzzle, "depth": depth}
    tables.run(write_recipe("tables", out.with_suffix(""), asked), out)
    return out


def test_a_table_of_a_study_is_believed_only_where_its_stage_wrote_it_of_the_puzzle(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COSTTOGO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(exact, "NEARBY_STATES", 100)
    exact._small_table.cache_clear()

    def depth():
        exact._is_of_study.cache_clear(), exact._table_of_study.cache_clear()
        return exact.find_nearby(CUBE).depth

    own, other = study_table("cube3", 3), study_table("puzzle15", 9)
    assert depth() == 3 and "left aside" not in capsys.readouterr().err
    whole, card = own.read_bytes(), own.with_suffix(".json").read_bytes()
    for content, told in (
        (other.read_bytes(), card),
        (other.read_bytes(), other.with_suffix(".json").read_bytes()),
        (whole, b"{}"),
        (whole, card.replace(b'"cube3"', b'"cube2"')),
        (whole[:-1], card),
    ):
        own.write_bytes(content), own.with_suffix(".json").write_bytes(told)
        assert depth() == 1
        assert (
            is_one_sentence(line := capsys.readouterr().err.strip()) and "cube3.npz is not what a stage wrote" in line
        )
    own.with_suffix(".json").unlink()
    assert depth() == 1
    exact._small_table.cache_clear(), exact._is_of_study.cache_clear(), exact._table_of_study.cache_clear()


@pytest.mark.parametrize(("wrong", "solver"), [(0, "greedy"), (9, "greedy"), (9, "exact")])
def test_exact_distances_that_a_solution_contradicts_prove_nothing(wrong, solver, folder, monkeypatch):
    monkeypatch.setattr("costtogo.solving.solution.exact_values", lambda puzzle, states: np.array([float(wrong)]))
    start = solving.parse_start(CUBE, "R U F")
    bound = 9.0 if solver == "exact" else 0.0

    def search(starts):
        return SearchResult.from_rows([(3, 1, 1, bound, CUBE.parse_moves("F' U' R'"))])

    with pytest.raises(UserError, match="exact distances of cube3 are wrong, so nothing is proved") as told:
        print(solution_of(CUBE, search, start, solver).optimum)
    assert is_one_sentence(str(told.value)) and str(cache.folder()) in str(told.value)


def test_a_network_of_a_study_goes_before_the_packaged_one_and_either_can_be_named(folder):
    package(folder)
    assert model_cards.find_model("puzzle15").origin == model_cards.PACKAGED
    study = folder / "results" / "puzzle15" / "models"
    study.mkdir(parents=True)
    (study / "values.json").write_text(json.dumps({"parameters": {"puzzle": "puzzle15"}}), encoding="utf-8")
    found = model_cards.find_model("puzzle15")
    assert (found.origin, found.name) == (model_cards.STUDY, "puzzle15/values")
    assert found.told == "values of the study puzzle15"
    assert model_cards.find_model(None, "puzzle15").origin == model_cards.PACKAGED
    assert model_cards.find_model("puzzle15", "puzzle15/values") == found
    assert [card.name for card in solving.models()] == ["puzzle15/values", "puzzle15"]


@pytest.mark.parametrize("content", ["{}", "[]", '{"parameters": {}}'])
def test_a_card_of_another_shape_is_named_in_one_sentence(folder, content):
    package(folder)
    (folder / "results" / "puzzle15" / "models").mkdir(parents=True)
    (folder / "results" / "puzzle15" / "models" / "values.json").write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match="values.json is damaged: delete it") as told:
        model_cards.find_model("puzzle15")
    assert is_one_sentence(str(told.value))


def test_a_report_of_other_puzzles_names_no_headline(folder):
    study = folder / "results" / "puzzle15"
    (study / "models").mkdir(parents=True)
    (study / "models" / "values.json").write_text(json.dumps({"parameters": {"puzzle": "puzzle15"}}), encoding="utf-8")
    for name, content in {"report": {"parameters": {"puzzles": {"cube2": {}}}}, "searches": {}}.items():
        card = study / name / ("report.json" if name == "report" else "values.json")
        card.parent.mkdir()
        card.write_text(json.dumps(content), encoding="utf-8")
    assert model_cards.find_model("puzzle15").name == "puzzle15/values"


def test_the_root_of_the_disk_is_no_network(folder):
    with pytest.raises(UserError):
        model_cards.ModelCard("/", "puzzle15", model_cards.FILE, Path("/")).checkpoint()


@pytest.mark.parametrize("suffix", [".safetensors", ".json"])
def test_a_packaged_network_that_is_not_the_measured_one_is_refused(folder, suffix):
    package(folder)
    path = folder / "networks" / f"puzzle15{suffix}"
    content = path.read_bytes()
    path.write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:] if suffix != ".json" else b"{}")
    with pytest.raises(UserError, match="is damaged.*; install costtogo again") as told:
        model_cards.find_model("puzzle15").checkpoint()
    assert is_one_sentence(str(told.value))


def test_a_puzzle_without_a_network_is_told_in_one_sentence(folder):
    with pytest.raises(UserError, match="no trained network of puzzle24") as told:
        model_cards.find_model("puzzle24")
    assert is_one_sentence(str(told.value))


def test_the_default_study_trains_what_a_message_says_it_does():
    models = yaml.safe_load(Path("params.yaml").read_text(encoding="utf-8"))["models"].values()
    assert {model["puzzle"] for model in models if "puzzle" in model} == set(model_cards.STUDIED)


def test_five_lines_load_a_network_and_solve(folder):
    package(folder)
    model = solving.load("puzzle15")
    solution = model.solve("D R U L D", solver="bwas", path_weight=1)
    assert solution.solved and solution.length == solution.optimum == 5 and solution.proved
    assert solution.states.shape == (6, 16) and model.puzzle.is_goal(solution.states[-1:])[0]
    assert model.cost_to_go(solution.states)[-1] == 0 and solution.metric == "moves"
    assert solving.load(folder / "networks" / "puzzle15.safetensors").card.origin == model_cards.FILE


def test_a_search_that_ends_unsolved_is_no_proof(folder):
    model = solving.load(save(folder / "one.safetensors"))
    found = model.solve("9 1 7 4 5 10 8 14 15 6 2 11 13 0 12 3", solver="bwas", max_expansions=3)
    assert not found.solved and not found.proved and found.optimum is None and found.ended == "expansions"


def test_a_start_is_a_state_or_moves_and_nothing_else():
    puzzle = make("puzzle8")
    moves = puzzle.parse_state("1 2 3 4 5 0 7 8 6")
    assert solving.parse_start(puzzle, "D").state.tolist() == moves.tolist()
    assert solving.parse_start(puzzle, "1 2 3 4 5 0 7 8 6").state.tolist() == moves.tolist()
    for text, reason in (("1 2 3", "has 9 cells"), ("U L D R U U U", "is not legal")):
        with pytest.raises(UserError, match=reason):
            solving.parse_start(puzzle, text)


FARTHER = "1 7 0 4 9 5 2 8 15 10 3 14 13 6 12 11"  # 24 moves from the goal, more than are listed around it


@pytest.mark.parametrize(("solver", "limit"), [("bwas", {"max_expansions": 5000}), ("beam", {"max_nodes": 50_000})])
def test_a_watcher_hears_of_more_and_more_work(folder, monkeypatch, solver, limit):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN", 0)
    heard, model = [], solving.load(save(folder / "one.safetensors"))
    model.solve(FARTHER, solver=solver, watch=heard.append, **limit)
    work = [each.nodes_expanded for each in heard]
    assert len(heard) > 2 and work == sorted(work) and work[-1] > 0


def test_a_watcher_hears_of_the_best_solution_while_shorter_ones_are_looked_for(folder, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN", 0)
    heard, model = [], solving.load(save(folder / "one.safetensors"))
    model.solve("D R D", solver="rising", seconds=20.0, watch=heard.append)
    assert heard[0].best_length == np.inf and heard[-1].best_length == 3


def test_exact_searches_are_watched_too(monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN", 0)
    for name, start in (("cube3", "R U F' L2 D B"), ("puzzle15", "9 1 7 4 5 10 8 14 15 6 2 11 13 0 12 3")):
        heard = []
        solving.solve_without_network(name, start, watch=heard.append)
        assert heard and heard[-1].nodes_generated >= 0


def test_nobody_watches_once_the_search_is_over():
    heard = []
    with progress.watching(heard.append):
        progress.report(lambda: (1, 2))
    progress.report(lambda: (3, 4))
    assert heard == [progress.Progress(1, 2)]


def test_a_watcher_is_not_called_more_than_a_few_times_a_second():
    heard = []
    with progress.watching(heard.append):
        for _ in range(100):
            progress.report(lambda: (1, 2))
    assert len(heard) == 1


class Terminal:
    """What is written to a terminal."""

    def __init__(self, monkeypatch):
        self.text = ""
        monkeypatch.setattr(sys, "stdout", self)

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        """Nothing waits."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("name", "coloured"), [("cube3", True), ("lights_out_3", True), ("hanoi_3", False)])
def test_states_are_drawn_in_colour_on_a_terminal_and_plainly_elsewhere(monkeypatch, capsys, name, coloured):
    puzzle = make(name)
    drawing.drawn(puzzle, puzzle.goal)
    assert capsys.readouterr().out == puzzle.draw(puzzle.goal) + "\n"
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    terminal = Terminal(monkeypatch)
    drawing.drawn(puzzle, puzzle.goal)
    assert ("\x1b[" in terminal.text) == coloured
    monkeypatch.setenv("NO_COLOR", "1")
    terminal = Terminal(monkeypatch)
    drawing.drawn(puzzle, puzzle.goal)
    assert terminal.text == puzzle.draw(puzzle.goal) + "\n"
    assert os.environ["NO_COLOR"] == "1"


def test_a_solution_is_printed_as_json(folder, capsys):
    from costtogo import cli

    cli.app(
        ["solve", "--puzzle", "cube2", "--scramble", "R U2 B'", "--solver", "exact", "--json"], standalone_mode=False
    )
    told = json.loads(capsys.readouterr().out)
    assert (told["length"], told["length_htm"], told["metric"], told["optimum"]) == (4, 3, "quarter turns", 4)
    assert told["proved"] and told["network"] is None and told["solution"] == "B U2 R'" and len(told["moves"]) == 4


def known_to_torch(monkeypatch) -> list:
    """The networks loaded from now on."""
    loaded = []
    monkeypatch.setattr(networks, "load", lambda path, *_: loaded.append(path))
    return loaded


@pytest.mark.parametrize(
    ("name", "start", "why"),
    [("cube2", "R U' F2", "the puzzle can be listed"), ("lights_out_7", "1" * 7 + "0" * 42, "by linear algebra"),
     ("puzzle15", FARTHER, "it ended in time"), ("sokoban", "######|#@$.##|##  ##|######", "it ended in time"),
     ("cube3", "R U F", "it ended in time")],
)  # fmt: skip
def test_auto_proves_its_solution_and_loads_no_network_where_exact_will_do(name, start, why, monkeypatch):
    loaded = known_to_torch(monkeypatch)
    found = solving.solve(name, start, seconds=20)
    assert (found.solver, found.why, found.heuristic) == ("exact", why, None)
    assert found.proved and found.optimum == found.length and not loaded


def test_auto_shares_its_seconds_with_a_network_where_exact_does_not_end_and_keeps_what_it_proved(folder):
    package(folder, "cube3", bias=12.0)
    found = solving.solve("cube3", "R U F L D B R U F L D B R U F L D B", seconds=1.0)
    assert found.heuristic == "network" and found.solver != "exact" and "exact had not ended" in found.why
    assert found.holds and found.lower_bound >= 6 and not found.proved


def test_auto_without_a_network_goes_by_the_best_bound_of_the_puzzle(folder, monkeypatch):
    monkeypatch.setattr("costtogo.solving.searches.OFTEN", 1e-6)
    found = solving.solve("sokoban", "########|#      #|#  @ $.#|########", seconds=4)
    assert found.told.startswith("rising over pairs (exact had not ended") and found.why.endswith("no network")
    assert found.solved and found.length == found.optimum == 2


def test_auto_without_a_network_makes_a_solution_of_the_solver_local_shorter(folder, monkeypatch):
    monkeypatch.setattr("costtogo.solving.searches.SELDOM", 1e-6)
    start = "D R D L U R R U L L D R"
    found, at_once = solving.solve("puzzle24", start, seconds=4), solving.solve("puzzle24", start, solver="local")
    assert found.told.startswith("local (there is no network") and found.solved
    assert found.length == found.optimum == 12 < at_once.length


def test_auto_makes_what_a_search_over_a_network_finds_shorter(folder, monkeypatch):
    package(folder, "puzzle24", bias=12.0)
    monkeypatch.setattr("costtogo.solving.searches.SELDOM", 1e-6)
    long = make_ready(make("puzzle24"), None, Setting("local"))
    monkeypatch.setattr("costtogo.search.anytime.solve", lambda puzzle, heuristic, starts, **options: long(starts))
    found = solving.solve("puzzle24", "D R D L U R R U L L D R", seconds=4)
    assert found.told.startswith("beam (exact had not ended") and found.length == found.optimum == 12


@pytest.mark.parametrize(("name", "solver"), [("cube3", "beam"), ("puzzle15", "beam"), ("sokoban", "rising")])
def test_beams_search_over_a_network_where_moves_can_be_undone(name, solver):
    puzzle, guide = make(name), networks.load(model_cards.packaged(name)[0].checkpoint())
    assert Setting().resolved(puzzle, guide).solver == solver
    assert Setting(heuristic="zero").resolved(puzzle).solver == "rising"


def test_auto_finds_some_solution_of_any_board(folder):
    package(folder, "puzzle35", bias=12.0)
    start = random_walks(make("puzzle35"), 1, 1000, np.random.default_rng(4))[0, -1]
    found = solving.solve("puzzle35", start, seconds=0.1)
    assert (found.solver, found.heuristic) == ("local", None) and "no search found a solution" in found.told
    assert found.solved and 0 < found.lower_bound < found.length and not found.proved


@pytest.mark.parametrize("solver", ["auto", "bwas", "beam", "rising"])
def test_until_proved_exact_goes_on_from_a_networks_solution(folder, solver):
    """Eight moves lie beyond the table around the goal, so that nothing but a search can tell."""
    package(folder, "cube3", bias=12.0)
    start = "R U F' L2 D B R"
    found = solving.solve("cube3", start, solver=solver, seconds=8, until_proved=True)
    assert found.proved and found.holds and found.length == solving.solve_without_network("cube3", start).length
    assert found.solver == "exact" or found.why.startswith("exact ruled out all that are shorter after")


def test_a_first_search_is_made_again_while_its_code_is_compiled(monkeypatch):
    clock, calls = iter([0.0, 3.0, 3.0, 5.0, 5.0, 5.1]), []
    monkeypatch.setattr(replayed, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    replayed.warm_up(CUBE, calls.append, 4)
    assert len(calls) == 3 and not solves(CUBE, calls[0], [np.zeros(0, dtype=np.int8)])[0]


def test_a_policy_guides_the_exact_solver_as_it_searches(folder):
    package(folder, "cube3", outputs="policy")
    start = random_walks(CUBE, 1, 8, np.random.default_rng(4))[:, -1]
    found = exact.exact_search(CUBE, solving.Setting(solver="exact", seconds=20.0))(start)
    guided = exact._by_network(CUBE, start[0], seconds=20.0, enough=8)
    assert solves(CUBE, start, np.array([guided])).all() and found.cost[0] <= len(guided) < 30


@pytest.mark.parametrize("bound", [7, 8, 100])
def test_a_solution_keeps_what_exact_proved_of_it_in_its_seconds(folder, bound, monkeypatch):
    """A stand-in for exact that ends with a bound; it is asked for less than the network found."""
    asked = []

    def ends(puzzle, setting, shorter_than):
        asked.append(shorter_than)
        return lambda starts: SearchResult.from_rows([(np.inf, 3, 4, min(bound, shorter_than), [], False, True)])

    package(folder, "cube3", bias=12.0)
    monkeypatch.setattr("costtogo.solving.searches.exact_search", ends)
    found = solving.solve("cube3", "R U F' L2 D B R", solver="beam", seconds=4, until_proved=True)
    assert asked == [found.length] and found.holds and found.solver == "beam"
    assert found.lower_bound == min(bound, found.length) and found.proved == (bound >= found.length)
    assert f"exact {'ruled out' if found.proved else 'had not ended'}" in found.why


@pytest.mark.parametrize("options", [{"path_weight": 1.0}, {"average": 1, "batch_size": 7}, {"heuristic": "manhattan"}])
def test_with_an_option_of_searches_over_a_heuristic_auto_is_one_of_them(folder, options):
    package(folder)
    found = solving.solve("puzzle15", "D R D", seconds=2, **options)
    assert found.solver in ("bwas", "rising", "beam") and found.why == "" and found.length == 3


ADMISSIBLE = [
    ("puzzle8", "manhattan", "bwas"), ("puzzle8", "pattern_database", "bwas"), ("puzzle15", "manhattan", "bwas"),
    ("puzzle15", "pattern_database", "rising"), ("hanoi_3", "zero", "bwas"), ("cube3", "zero", "rising"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "heuristic", "solver"), ADMISSIBLE)
def test_a_classical_heuristic_needs_no_network_and_proves_with_a_weight_of_1(name, heuristic, solver, monkeypatch):
    loaded, puzzle = known_to_torch(monkeypatch), make(name)
    start = random_walks(puzzle, 1, 9, np.random.default_rng(4))[0, -1]
    options = {"path_weight": 1.0, "until_proved": True} if solver == "bwas" else {"seconds": 20.0}
    found = solving.solve_without_network(puzzle, start, solver=solver, heuristic=heuristic, **options)
    exactly = solving.solve_without_network(puzzle, start)
    assert found.proved and found.length == exactly.length and found.heuristic == heuristic and not loaded
    greedy = solving.solve_without_network(puzzle, start, solver="greedy", heuristic=heuristic)
    assert greedy.solved and greedy.holds and greedy.lower_bound <= exactly.length <= greedy.length


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [("cube3", {"heuristic": "manhattan"}, "no heuristic manhattan of cube3, only network, pattern_database, zero."),
     ("sokoban", {"heuristic": "pattern_database"}, "of sokoban, only network, pairs, matching, dead_squares, zero."),
     ("puzzle15", {"heuristic": "zero", "solver": "beam"}, "choose bwas, greedy or rising"),
     ("puzzle15", {"heuristic": "zero", "solver": "exact"}, "searches over no network")],
)  # fmt: skip
def test_a_heuristic_that_does_not_apply_is_refused_in_one_sentence(name, options, told):
    puzzle = make(name)
    with pytest.raises(UserError, match=told) as error:
        setting = solving.Setting(**{"solver": "bwas"} | options)
        setting.refuse()
        solving.solve_without_network(puzzle, puzzle.goal, **{"solver": "bwas"} | options)
    assert is_one_sentence(str(error.value))


def test_a_search_that_has_seen_all_states_proves_that_there_is_no_solution():
    level = "########|#  @   #|#  $  .#|#  #   #|#.$    #|########".replace(" ", "-")
    assert solving.no_solution(make("sokoban"), make("sokoban").parse_state(level)) is None
    walled = make("sokoban").parse_state("#######|#@ $ .#|##$####|#.    #|#######")
    for solver in ("bwas", "greedy", "rising"):
        found = solving.solve_without_network("sokoban", walled, solver=solver, heuristic="zero", seconds=20.0)
        assert not found.solved and np.isposinf(found.lower_bound) and found.nodes_expanded == 0
