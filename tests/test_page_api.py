"""The puzzles of the page, their states and scrambles: every one is what the puzzle's own rules say."""

import json
from functools import cache

import numpy as np
import pytest
from messages import is_one_sentence
from page_server import running

from costtogo.page import catalogue
from costtogo.puzzles import make
from costtogo.puzzles.base import apply

GOALS = [name for name in catalogue.SCRAMBLES if make(name).one_goal]
LEVEL = "#####|#@-.#|#-$-#|#---#|#####"
IMPOSSIBLE = {
    ("puzzle8", "2 1 3 4 5 6 7 8 0"): "Impossible board: two tiles are exchanged",
    ("puzzle15", "1 2 3 4 5 6 7 8 9 10 11 12 13 15 14 0"): "Impossible board: two tiles are exchanged",
    ("puzzle8", "1 1 3 4 5 6 7 8 0"): "Impossible board: 2 is missing",
    ("lights_out_5", "10000 00000 00000 00000 00000"): "Impossible board: no presses",
    ("hanoi_3", "003"): "Unknown peg",
    ("sokoban", "####|#@.#|####"): "A level has as many boxes as targets",
    ("sokoban", "#####|#@$.-|#####"): "The border of the level is open",
}


@pytest.fixture(scope="module")
def page():
    """One server for all."""
    with running(workers=1) as found:
        yield found


@cache
def goal_of(name: str) -> np.ndarray:
    return make(name).goal


def ask(page, path: str, **fields) -> dict:
    found = page.ask("POST", f"/api/{path}", fields)
    assert found.status == 200, found.body
    return found.json


def refused(page, path: str, **fields) -> str:
    found = page.ask("POST", f"/api/{path}", fields)
    assert found.status == 422 and is_one_sentence(found.json["error"]), found.body
    return found.json["error"]


def test_every_puzzle_is_described_as_its_rules_are(page):
    listed = page.ask("GET", "/api/puzzles").json
    assert [each["name"] for each in listed["puzzles"]] == list(catalogue.SCRAMBLES)
    for each in listed["puzzles"]:
        puzzle = make(each["name"])
        assert (each["actions"], each["goal"]) == (list(puzzle.actions), puzzle.goal.tolist())
        assert each["goal_text"] == puzzle.format_state(puzzle.goal)
        assert each["models"][0]["name"] == "net" and each["solvers"][0]["name"] == "walk"
    sides = {each["name"]: (each["kind"], each["side"]) for each in listed["puzzles"]}
    assert sides["cube3"] == ("cube", 3) and sides["cube2"] == ("cube", 2) and sides["puzzle15"] == ("sliding", 4)
    assert sides["lights_out_7"] == ("lights", 7) and sides["hanoi_4"] == ("hanoi", 3)
    assert sides["sokoban"] == ("sokoban", 10)


def test_of_a_collection_the_level_of_a_number_is_read_and_all_are_named(page):
    broken = "#####\n#@..#\n#####"
    collection = "\n\n".join(["; By nobody", "First", LEVEL.replace("|", "\n"), "Second", "#####|#@$.#|#####", broken])
    read = [ask(page, "state", puzzle="sokoban", state=collection, level=level) for level in (0, 1)]
    assert [each["levels"] for each in read] == [["First", "Second", "2"]] * 2
    for each, rows in zip(read, ("#@-.#", "#@$.#"), strict=True):
        assert rows in each["state"] and each["state"] == each["read_as"]
    assert ask(page, "state", puzzle="sokoban", state=LEVEL)["levels"] == []
    assert refused(page, "state", puzzle="sokoban", state=collection, level=2).startswith("Level 2, at line 15: ")
    assert refused(page, "state", puzzle="sokoban", state=collection, level=3).startswith("There is no level 3")


def test_facelets_of_another_order_are_read_and_the_answer_says_so(page):
    found = ask(page, "state", puzzle="cube3", state="".join(face * 9 for face in "URFDLB"))
    assert found["solved"] and found["read_as"].endswith("(faces given in the order U R F D L B)")


@pytest.mark.parametrize("name", GOALS)
def test_the_moves_of_a_scramble_lead_from_the_goal_to_its_state(page, name):
    found, puzzle = ask(page, "scramble", puzzle=name, seed=4), make(name)
    actions = [puzzle.actions.index(action) for action in found["actions"]]
    assert len(actions) == catalogue.SCRAMBLES[name]
    assert apply(puzzle, puzzle.goal, actions).tolist() == found["cells"]
    assert puzzle.parse_state(found["state"]).tolist() == found["cells"]
    assert found["legal"] == puzzle.legal(np.array([found["cells"]], dtype=np.uint8))[0].tolist()
    moved = ask(page, "state", puzzle=name, moves=found["moves"])
    assert moved["state"] == found["state"], "turns that undo each other are left out"


def test_a_seed_gives_the_same_scramble_again_and_another_one_another(page):
    first = ask(page, "scramble", puzzle="cube3")
    assert ask(page, "scramble", puzzle="cube3", seed=first["seed"]) == first
    assert ask(page, "scramble", puzzle="cube3", seed=first["seed"] + 1)["state"] != first["state"]
    assert ask(page, "scramble", puzzle="cube3", seed=1, length=0)["solved"]
    assert len(ask(page, "scramble", puzzle="cube3", seed=1, length=2000)["actions"]) == 2000


def test_a_level_is_generated_and_is_a_level(page):
    found = ask(page, "scramble", puzzle="sokoban", seed=3)
    assert found["moves"] == "" and not found["solved"]
    assert make("sokoban").parse_state(found["state"]).tolist() == found["cells"]
    assert ask(page, "scramble", puzzle="sokoban", seed=3) == found
    assert "length" in refused(page, "scramble", puzzle="sokoban", length=5)


@pytest.mark.parametrize("name", catalogue.SCRAMBLES)
def test_a_state_is_the_same_as_text_and_as_cells(page, name):
    found = ask(page, "scramble", puzzle=name, seed=5)
    by_text = ask(page, "state", puzzle=name, state=found["state"])
    assert ask(page, "state", puzzle=name, cells=found["cells"]) == by_text | {"read_as": ""}
    assert (by_text["cells"], by_text["solved"]) == (found["cells"], False)
    goal = ask(page, "state", puzzle=name, cells=make(name).goal.tolist())
    assert goal["solved"] and goal["state"] == make(name).format_state(make(name).goal)


def test_moves_are_made_from_the_state_that_is_given(page):
    turned = ask(page, "state", puzzle="cube2", moves="L")
    assert (
        ask(page, "state", puzzle="cube2", moves="L'", **{"from": turned["state"]})["solved"] and not turned["solved"]
    )
    half = ask(page, "state", puzzle="cube3", moves="R2")
    assert ask(page, "state", puzzle="cube3", moves="R2", **{"from": half["state"]})["solved"]
    pushed = ask(page, "state", puzzle="sokoban", moves="DDRU", **{"from": LEVEL})
    assert pushed["cells"].count(2) + pushed["cells"].count(3) == 1 and not pushed["solved"]
    assert ask(page, "state", puzzle="sokoban", moves="DDRULUR", **{"from": LEVEL})["solved"]
    assert "not legal" in refused(page, "state", puzzle="puzzle8", moves="U")
    assert "Unknown move" in refused(page, "state", puzzle="cube3", moves="Q")


@pytest.mark.parametrize(("name", "text"), IMPOSSIBLE, ids=lambda value: value[:12])
def test_an_impossible_state_is_refused_in_the_words_of_its_puzzle(page, name, text):
    assert refused(page, "state", puzzle=name, state=text).startswith(IMPOSSIBLE[name, text])


def swapped(name: str, *pairs: tuple[int, int]) -> list[int]:
    """The cells of the goal with some exchanged."""
    cells = goal_of(name).tolist()
    for one, other in pairs:
        cells[one], cells[other] = cells[other], cells[one]
    return cells


@pytest.mark.parametrize(
    ("name", "cells", "told"),
    [
        ("puzzle8", swapped("puzzle8", (0, 1)), "two tiles are exchanged"),
        ("puzzle8", [0] * 9, "1 is missing"),
        ("cube3", [0] * 54, "stickers are L"),
        ("cube3", swapped("cube3", (4, 13)), "no corner has the colours"),
        ("cube3", swapped("cube3", (7 + 9, 1 + 18)), "a single edge is flipped"),
        ("cube2", swapped("cube2", (7, 9), (9, 16)), "a single corner is twisted"),
        ("lights_out_5", [1] + [0] * 24, "no presses"),
        ("sokoban", [6] * 100, "one player"),
    ],
)
def test_painted_cells_go_through_the_same_check(page, name, cells, told):
    assert told in refused(page, "state", puzzle=name, cells=cells)


def test_a_search_is_refused_at_once_where_its_state_is_impossible(page):
    fields = {"puzzle": "puzzle8", "model": "net", "solver": "walk", "seconds": 1}
    assert "exchanged" in refused(page, "searches", state="2 1 3 4 5 6 7 8 0", **fields)
    values = {"puzzle": "puzzle8", "model": "net"}
    assert "exchanged" in refused(page, "values", states=["1 2 3 4 5 6 7 8 0", "2 1 3 4 5 6 7 8 0"], **values)


def test_the_description_names_every_address_and_every_request_is_closed(page):
    described = page.ask("GET", "/api/openapi.json").json
    assert {path: sorted(methods) for path, methods in described["paths"].items()} == {
        "/api/puzzles": ["get"],
        "/api/scramble": ["post"],
        "/api/state": ["post"],
        "/api/values": ["post"],
        "/api/searches": ["post"],
        "/api/searches/{id}": ["delete", "get"],
        "/api/searches/{id}/events": ["get"],
    }
    shapes = described["components"]["schemas"]
    requests = {name: shape for name, shape in shapes.items() if name.endswith("Request")}
    assert len(requests) == 4 and all(shape["additionalProperties"] is False for shape in requests.values())
    assert "HTTPValidationError" not in shapes, "a refusal is a sentence, not what FastAPI says elsewhere"
    assert "http" not in json.dumps(shapes), "nothing is loaded from elsewhere"
