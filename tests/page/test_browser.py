"""The page in a browser: every test goes through the page as its users do, by mouse, keys or links."""

import re
from urllib.parse import parse_qs, urlencode, urlsplit

import numpy as np
import pytest

from costtogo.puzzles import make
from costtogo.puzzles.base import apply

PUZZLES = ["cube2", "cube3", "puzzle8", "puzzle48", "lights_out_7", "hanoi_7", "sokoban"]
NARROW = {"viewport": {"width": 360, "height": 740}}


def after(puzzle: str, moves: str, start: str | None = None) -> str:
    """The text of the state that moves lead to, from the goal where no start is given."""
    made = make(puzzle)
    first = made.goal if start is None else made.parse_state(start)
    return made.format_state(apply(made, first, made.parse_moves(moves)))


def link(**fields: str) -> str:
    """A fragment of the page's address."""
    return urlencode(fields)


def state(text: str) -> re.Pattern:
    """An address that carries a state, in the letters that a browser leaves as they are."""
    return re.compile(re.escape(urlencode({"state": text}, safe="*")))


def carried(page) -> dict[str, str]:
    """What the address carries."""
    return {key: value for key, (value,) in parse_qs(urlsplit(page.url).fragment).items()}


def solve(page, solver: str = "shortest", pane: str = "#solve") -> None:
    """Search and wait for the solution."""
    page.select_option(f"{pane} [data-part=solver]", solver)
    page.click(f"{pane} [data-part=search]")
    page.locator(f"{pane} [data-part=player]").wait_for()


def width(page) -> int:
    """How wide the page's content is, in px."""
    return page.evaluate("document.documentElement.scrollWidth")


# Loading


@pytest.mark.parametrize("puzzle", PUZZLES)
def test_every_kind_of_puzzle_loads_without_errors_or_violations_of_the_content_policy(open_page, expect, puzzle):
    page = open_page(link(puzzle=puzzle))
    expect(page.locator("#board :is(svg.scene, .grid)").first).to_be_visible()
    expect(page.locator("#notice")).to_be_hidden()
    assert carried(page)["state"] == make(puzzle).format_state(make(puzzle).goal)


def test_a_puzzle_of_a_kind_without_a_board_shows_its_cells_and_buttons(open_page, expect):
    def without_a_board(route) -> None:
        answer = route.fetch()
        puzzles = [each | {"kind": "other"} for each in answer.json()["puzzles"]]
        route.fulfill(response=answer, json=answer.json() | {"puzzles": puzzles})

    page = open_page(link(puzzle="cube3"))
    page.route("**/api/puzzles", without_a_board)
    page.goto(page.url.partition("#")[0] + "?#" + link(puzzle="puzzle8"))
    page.click("#actions button:text-is('R')")
    expect(page.locator("#board input")).to_have_count(9)
    expect(page).to_have_url(state(after("puzzle8", "R")))
    assert [field.input_value() for field in page.locator("#board input").all()] == after("puzzle8", "R").split()


def test_nothing_is_asked_of_another_machine(open_page, server):
    page = open_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    page.locator("main:not([inert])").wait_for()
    assert asked and all(url.startswith(server.url) for url in asked)


def test_leafing_through_the_puzzles_ends_at_the_last(open_page, expect):
    page = open_page(link(puzzle="cube2"))
    page.locator("#puzzle").focus()
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    expect(page).to_have_url(re.compile("puzzle=puzzle24"))
    expect(page.locator("#board .tile")).to_have_count(24)
    expect(page.locator("#notice")).to_be_hidden()


# Moves by hand


@pytest.mark.parametrize("puzzle", ["cube2", "cube3"])
def test_keys_turn_the_cube_and_its_stickers_show_the_state(open_page, expect, puzzle):
    page = open_page(link(puzzle=puzzle))
    page.check("#board label:text-is('Net')")
    page.locator("#board svg.scene").focus()
    for key in ("R", "u", "Shift+b"):
        page.keyboard.press(key)
    wanted = after(puzzle, "R U B'")
    expect(page).to_have_url(state(wanted))
    assert "".join(page.locator("#board .net button").all_text_contents()) == wanted
    page.click("#undo")
    expect(page).to_have_url(state(after(puzzle, "R U")))


def test_a_turn_of_the_fixed_corners_faces_turns_the_opposite_one(open_page, expect):
    page = open_page(link(puzzle="cube2"))
    page.locator("#board svg.scene").focus()
    page.keyboard.press("l")
    expect(page).to_have_url(state(after("cube2", "R")))


MOVED = """async ([size, face]) => {
  const { dot, normalOf, stickers, turned } = await import("/static/boards/cube_geometry.js");
  const all = stickers(size).map(({ face, centre }) => ({ outward: normalOf(face), centre }));
  const near = (a, b) => a.every((value, axis) => Math.abs(value - b[axis]) < 1e-9);
  return all.map((sticker, cell) => {
    if (dot(sticker.centre, normalOf(face)) < 1 - 2 / size) return cell;
    const [centre, outward] = [sticker.centre, sticker.outward].map((v) => turned(v, normalOf(face), -Math.PI / 2));
    return all.findIndex((other) => near(other.centre, centre) && near(other.outward, outward));
  });
}"""


@pytest.mark.parametrize("puzzle, size", [("cube2", 2), ("cube3", 3)])
def test_turns_in_space_are_those_of_the_puzzle(open_page, puzzle, size):
    page, made = open_page(), make(puzzle)
    for action, name in enumerate(made.actions[::2]):
        goes_to = page.evaluate(MOVED, [size, name])
        assert np.argsort(goes_to).tolist() == made.turns[2 * action].tolist(), name


def drag(page, start, end) -> None:
    """Press the mouse at a point of the board, given as shares of its width and height, and let it go at another."""
    box = page.locator("#board svg.scene").bounding_box()
    points = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in (start, end)]
    page.mouse.move(*points[0])
    page.mouse.down()
    page.mouse.move(*points[1], steps=8)
    page.mouse.up()


def test_dragging_a_sticker_turns_its_layer_and_dragging_beside_the_cube_the_view(open_page, expect):
    page = open_page(link(puzzle="cube3"))
    drag(page, (0.3, 0.38), (0.55, 0.5))  # along the upper row of F to the right
    expect(page).to_have_url(state(after("cube3", "U'")))
    before = page.locator("#board svg.scene").screenshot()
    drag(page, (0.05, 0.05), (0.3, 0.05))
    assert page.locator("#board svg.scene").screenshot() != before
    expect(page).to_have_url(state(after("cube3", "U'")))


def test_touch_turns_a_layer_and_a_tap_slides_a_tile(open_page, expect):
    page = open_page(link(puzzle="cube3"), has_touch=True)
    box = page.locator("#board svg.scene").bounding_box()
    touch = page.context.new_cdp_session(page)
    for step in range(9):
        at = {"x": box["x"] + (0.3 + step / 32) * box["width"], "y": box["y"] + (0.38 + step / 64) * box["height"]}
        kind = "touchMove" if step else "touchStart"
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [at]})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    expect(page).to_have_url(state(after("cube3", "U'")))
    page.select_option("#puzzle", "puzzle8")
    page.locator("main:not([inert])").wait_for()
    page.locator("#board .tile", has_text=re.compile("^8$")).tap()
    expect(page).to_have_url(state(after("puzzle8", "R")))


def test_tiles_slide_by_arrow_keys_and_a_click_slides_a_row(open_page, expect):
    page = open_page(link(puzzle="puzzle15"))
    page.locator("#board svg.scene").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page).to_have_url(state(after("puzzle15", "D D")))
    page.locator("#board .tile", has_text=re.compile("^5$")).click()
    expect(page).to_have_url(state(after("puzzle15", "D D R R R")))


def test_lights_are_pressed_by_click_and_key(open_page, expect):
    page = open_page(link(puzzle="lights_out_5"))
    page.locator("#board").get_by_label("row 1, column 1", exact=True).click()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page).to_have_url(state(after("lights_out_5", "r1c1 r2c2")))
    expect(page.locator("#board").get_by_label("row 1, column 1", exact=True)).to_have_attribute("aria-pressed", "true")


def test_disks_move_by_two_keys_two_clicks_and_by_dragging(open_page, expect):
    page = open_page(link(puzzle="hanoi_3"))
    board = page.locator("#board svg.scene")
    board.focus()
    page.keyboard.press("0")
    page.keyboard.press("2")
    expect(page).to_have_url(state(after("hanoi_3", "0>2")))
    box = board.bounding_box()
    board.click(position={"x": box["width"] / 6, "y": box["height"] / 2})
    board.click(position={"x": box["width"] / 2, "y": box["height"] / 2})
    expect(page).to_have_url(state(after("hanoi_3", "0>2 0>1")))
    drag(page, (5 / 6, 0.7), (1 / 2, 0.4))
    expect(page).to_have_url(state(after("hanoi_3", "0>2 0>1 2>1")))


def test_a_move_that_is_not_legal_changes_nothing_and_says_nothing(open_page, expect):
    page = open_page(link(puzzle="sokoban"))
    start = carried(page)["state"]
    page.locator("#board svg.scene").focus()
    page.keyboard.press("ArrowDown")  # a wall
    page.keyboard.press("ArrowUp")
    expect(page).to_have_url(state(after("sokoban", "U", start)))
    expect(page.locator("#notice")).to_be_hidden()


# Entering states


def test_the_same_seed_gives_the_same_scramble(open_page, expect):
    page = open_page(link(puzzle="cube3"))
    page.fill("#scramble [name=moves]", "12")
    page.fill("#scramble [name=seed]", "5")
    page.click("#scramble-button")
    expect(page.locator("#scrambled")).to_contain_text("Seed 5:")
    scrambled = carried(page)["state"]
    assert scrambled == after("cube3", page.text_content("#scrambled").removeprefix("Seed 5:"))
    page.click("#solved-state")
    expect(page).to_have_url(state(after("cube3", "")))
    page.click("#scramble-button")
    expect(page).to_have_url(state(scrambled))


def test_a_painted_cube_that_cannot_be_shows_the_sentence_and_can_be_mended(open_page, expect):
    page = open_page(link(puzzle="cube3"), refusals=True)
    page.click("#edit")
    corner = page.locator("#board").get_by_label("face U, row 3, column 1")
    corner.focus()
    page.keyboard.press("r")
    page.click("#use-draft")
    expect(page.locator("#notice")).to_contain_text("Impossible cube: 8 stickers are U, there must be 9.")
    page.check("text=U white")
    corner.click()
    page.click("#use-draft")
    expect(page.locator("#editing")).to_be_hidden()
    expect(page.locator("#notice")).to_be_hidden()


def test_a_click_on_the_cube_paints_the_sticker(open_page, expect):
    page = open_page(link(puzzle="cube2"))
    page.click("#edit")
    page.check("text=R red")
    page.locator("#board svg.scene .sticker.c1").first.click()
    expect(page.locator("#board .net button.c4")).to_have_count(5)
    page.click("#drop-draft")
    expect(page.locator("#board .net button.c4")).to_have_count(4)


def test_typed_tiles_are_taken_or_refused_with_the_sentence(open_page, expect):
    page = open_page(link(puzzle="puzzle8"), refusals=True)
    page.click("#edit")
    page.locator("#board").get_by_label("row 1, column 1").fill("2")
    page.click("#use-draft")
    expect(page.locator("#notice")).to_contain_text("Impossible board: 1 is missing and 2 is there more than once.")
    for column, tile in enumerate("231", start=1):
        page.locator("#board").get_by_label(f"row 1, column {column}").fill(tile)
    page.click("#use-draft")
    expect(page).to_have_url(state("2 3 1 4 5 6 7 8 0"))


def test_a_switched_board_that_no_presses_make_shows_the_sentence(open_page, expect):
    page = open_page(link(puzzle="lights_out_5"), refusals=True)
    page.click("#edit")
    page.locator("#board").get_by_label("row 1, column 1", exact=True).click()
    page.click("#use-draft")
    expect(page.locator("#notice")).to_contain_text("Impossible board: no presses switch these lights off")


def test_a_state_and_moves_can_be_typed(open_page, expect):
    page = open_page(link(puzzle="cube3"), refusals=True)
    page.click("summary")
    page.fill("#state-text", after("cube3", "R U2"))
    page.click("text=Use this state")
    expect(page).to_have_url(state(after("cube3", "R U2")))
    page.fill("#moves-text", "F' L")
    page.click("text=Make these moves")
    expect(page).to_have_url(state(after("cube3", "R U2 F' L")))
    page.fill("#moves-text", "R // two lines\nQ")
    page.press("#moves-text", "Enter")
    expect(page.locator("#enter-moves #notice")).to_contain_text("Unknown move 'Q' in line 2")
    page.fill("#state-text", "".join(face * 9 for face in "URFDLB"))
    page.click("text=Use this state")
    expect(page.locator("#read-as")).to_contain_text("faces given in the order U R F D L B")
    expect(page.locator("#notice")).to_be_hidden()


def test_a_cube_held_with_yellow_up_is_shown_so_through_moves_undo_and_paint(open_page, expect):
    page = open_page(link(puzzle="cube3"))
    page.click("summary")
    top, front = (page.locator("#board .net button").nth(9 * face + 4) for face in (1, 2))

    def held(up: str, ahead: str) -> None:
        expect(top).to_have_attribute("aria-label", re.compile(f": {up}$"))
        expect(front).to_have_attribute("aria-label", re.compile(f": {ahead}$"))

    held("white", "green")
    faces = {"U": "Y", "R": "O", "F": "G", "D": "W", "L": "R", "B": "B"}
    page.fill("#state-text", "".join(faces[face] * 9 for face in "URFDLB"))
    page.click("text=Use this state")
    held("yellow", "green")
    page.keyboard.press("r")
    expect(page.locator("#undo")).to_be_enabled()
    held("yellow", "green")
    page.fill("#moves-text", "y' R")
    page.click("text=Make these moves")
    held("yellow", "red")
    page.click("#undo")
    held("yellow", "green")
    page.click("#solved-state")
    held("white", "green")


def test_a_file_of_levels_is_opened_and_one_of_them_chosen(open_page, expect):
    page = open_page(link(puzzle="sokoban"))
    page.click("summary")
    levels = [f"Level {number}\n#####\n#@$.#\n#{'-' * number}{'#' * (4 - number)}\n#####\n" for number in range(3)]
    page.set_input_files(
        "#state-file", {"name": "a.xsb", "mimeType": "text/plain", "buffer": "\n".join(levels).encode()}
    )
    expect(page.locator("#level-number option")).to_have_text(["Level 0", "Level 1", "Level 2"])
    page.select_option("#level-number", "2")
    expect(page.locator("#state-text")).to_have_value(re.compile(r"@\$\.#+\n#+--#"))
    page.select_option("#puzzle", "cube2")
    expect(page.locator("#level")).to_be_hidden()


# Searching and playing


def test_a_scramble_is_solved_and_played(open_page, expect):
    page = open_page(link(puzzle="cube3", state=after("cube3", "R U F"), solver="shortest"))
    page.click("#solve [data-part=search]")
    expect(page.locator("#solve [data-part=status]")).to_have_text("Solved in 3 moves.")
    expect(page.locator("#solve [data-part=text]")).to_have_text("F' U' R'")
    expect(page.locator("#solve [data-part=numbers]")).to_contain_text("Optimalyes")
    page.select_option("#solve [data-part=speed]", "8")
    page.check("#board label:text-is('Net')")
    page.click("#solve [data-part=play]")
    reading = page.locator("#solve [data-part=reading]")
    expect(reading).to_have_text("Move 3 of 3, R'. Cost-to-go: network 0.00, exact 0.")
    assert "".join(page.locator("#board .net button").all_text_contents()) == after("cube3", "")
    assert carried(page)["state"] == after("cube3", "R U F")  # the link keeps the state that was solved


def test_a_solution_that_need_not_be_shortest_is_proved_or_replaced(open_page, expect):
    page = open_page(link(puzzle="cube3", state=after("cube3", "R U F"), solver="detour", seconds="100"))
    prove, status = page.locator("#solve [data-part=prove]"), page.locator("#solve [data-part=status]")
    expect(prove).to_be_hidden()
    page.click("#solve [data-part=search]")
    expect(status).to_have_text("Solved in 5 moves.")
    prove.click()
    expect(status).to_have_text("Searching … 18 moves in about 3 s")
    expect(prove).to_be_hidden()
    page.click("#solve [data-part=next]")
    expect(page.locator("#solve [data-part=reading]")).to_contain_text("Move 1 of 5")
    page.click("#solve [data-part=cancel]")
    expect(status).to_have_text("The search was cancelled.")
    expect(page.locator("#solve [data-part=reading]")).to_contain_text("Move 1 of 5")
    page.fill("#solve [data-part=seconds]", "5")
    prove.click()
    expect(status).to_have_text("Solved in 3 moves.")
    expect(page.locator("#solve [data-part=numbers]")).to_contain_text("Optimalyes")
    expect(prove).to_be_hidden()
    page.click("#view-compare")
    page.click("#search-both")
    expect(page.locator("#pane-b [data-part=player]")).to_be_visible()
    expect(page.locator("#pane-a [data-part=prove]")).to_be_hidden()


OPTIMAL = """async (solution) => {
  const { searchRows } = await import("/static/numbers.js");
  return Object.fromEntries(searchRows({ best_length: null, solution })).Optimal;
}"""


def test_a_lower_bound_is_told_with_its_condition(open_page):
    page, found = open_page(), {"length": 50, "metric": "moves", "optimum": None, "proved": False, "lower_bound": 49.2}
    told = [page.evaluate(OPTIMAL, found | {"lower_bound_holds": holds}) for holds in (True, False)]
    assert told == ["unknown; at least 50", "unknown; at least 50 if the network never overestimates"]


def test_the_solution_is_stepped_by_buttons_keys_slider_and_chart(open_page, expect):
    page = open_page(link(puzzle="puzzle8", state=after("puzzle8", "D D R R"), solver="shortest"))
    solve(page)
    reading = page.locator("#solve [data-part=reading]")
    page.click("#solve [data-part=next]")
    expect(reading).to_contain_text("Move 1 of 4")
    page.locator("#board svg.scene").focus()
    page.keyboard.press(".")
    expect(reading).to_contain_text("Move 2 of 4")
    page.keyboard.press(",")
    expect(reading).to_contain_text("Move 1 of 4")
    page.locator("#solve [data-part=slider]").focus()
    page.keyboard.press("End")
    expect(reading).to_contain_text("Move 4 of 4")
    page.locator("#solve svg.chart").click(position={"x": 40, "y": 60})
    expect(reading).to_contain_text("Start, 4 moves to go")
    page.click("#solve [data-part=last]")
    expect(page.locator("#here")).to_contain_text("exact 0")


def test_a_move_by_hand_from_within_a_solution_starts_there_and_ends_it(open_page, expect):
    page = open_page(link(puzzle="puzzle8", state=after("puzzle8", "D D R R"), solver="shortest"))
    solve(page)
    page.click("#solve [data-part=next]")
    page.locator("#board svg.scene").focus()
    page.keyboard.press("ArrowLeft")
    expect(page).to_have_url(state(after("puzzle8", "D D R R L L")))
    expect(page.locator("#solve [data-part=player]")).to_be_hidden()


def test_a_running_search_shows_its_numbers_and_is_cancelled(open_page, expect, server):
    page = open_page(link(puzzle="puzzle8", state=after("puzzle8", "D"), seconds="100", solver="endless"))
    page.click("#solve [data-part=search]")
    expect(page.locator("#solve [data-part=status]")).to_have_text("Searching …")
    expect(page.locator("#solve [data-part=numbers]")).to_contain_text(re.compile(r"Nodes expanded[\d,]*[1-9]00"))
    page.click("#solve [data-part=cancel]")
    expect(page.locator("#solve [data-part=cancel]")).to_be_disabled()
    expect(page.locator("#solve [data-part=status]")).to_contain_text("cancelled")
    solve(page)  # the worker is free again


def test_a_search_that_waits_shows_its_place_in_the_queue(open_page, expect, server, searches_at_once):
    others = [server.begin("endless", seconds=100).json["id"] for _ in range(searches_at_once)]
    page = open_page(link(puzzle="puzzle8", state=after("puzzle8", "D"), solver="shortest"))
    page.click("#solve [data-part=search]")
    status = page.locator("#solve [data-part=status]")
    expect(status).to_have_text("Waiting for a free worker; place in the queue: 1.")
    for each in others:
        server.ask("DELETE", f"/api/searches/{each}")
    expect(status).to_have_text("Solved in 1 moves.")


def test_what_the_server_says_of_a_search_it_refuses_is_shown(open_page, expect):
    page = open_page(link(puzzle="puzzle8", state=after("puzzle8", "D"), solver="shortest"), refusals=True)
    sentence = "The server has all it can do."
    page.route("**/api/searches", lambda route: route.fulfill(status=429, json={"error": sentence}))
    page.click("#solve [data-part=search]")
    expect(page.locator("#solve [data-part=status]")).to_have_text(sentence)
    expect(page.locator("#solve [data-part=search]")).to_be_enabled()


def test_a_server_that_is_gone_is_told_and_the_board_goes_back(open_page, expect):
    page = open_page(link(puzzle="cube2"), refusals=True)
    page.route("**/api/**", lambda route: route.abort())
    page.check("#board label:text-is('Net')")
    page.click("#actions button:text-is('R')")
    expect(page.locator("#notice")).to_contain_text("The server does not answer")
    assert "".join(page.locator("#board .net button").all_text_contents()) == after("cube2", "")


def test_a_search_that_runs_out_of_time_says_so(open_page, expect):
    page = open_page(link(puzzle="puzzle8", state=after("puzzle8", "D"), seconds="1", solver="endless"))
    page.click("#solve [data-part=search]")
    expect(page.locator("#solve [data-part=status]")).to_have_text("No solution was found in the time given.")
    expect(page.locator("#solve [data-part=player]")).to_be_hidden()


def test_a_search_right_after_a_turn_starts_where_the_turn_ends(open_page, expect):
    page = open_page(link(puzzle="cube2", solver="shortest"))
    page.route("**/api/state", lambda route: (page.wait_for_timeout(300), route.continue_()))
    page.click("#actions button:text-is('R')")
    page.click("#solve [data-part=search]")
    expect(page.locator("#solve [data-part=text]")).to_have_text("R'")


def test_a_link_keeps_that_no_network_is_used(open_page, expect):
    page = open_page(link(puzzle="cube2"))
    page.select_option("#solve [data-part=model]", "none")
    expect(page).to_have_url(re.compile("model=none"))
    page.reload()
    expect(page.locator("#solve [data-part=model]")).to_have_value("none")
    expect(page.locator("#solve [data-part=solver] option[value=detour]")).to_be_disabled()
    solve(page)
    expect(page.locator("#solve [data-part=reading]")).not_to_contain_text("network")


def test_two_solvers_are_compared_side_by_side_at_once(open_page, expect):
    fields = {"solver": "endless", "solver2": "detour", "seconds": "100"}
    page = open_page(link(view="compare", puzzle="cube2", state=after("cube2", "R U"), **fields))
    page.click("#search-both")
    expect(page.locator("#pane-b [data-part=status]")).to_have_text("Solved in 4 moves.")
    expect(page.locator("#pane-a [data-part=status]")).to_have_text("Searching …")  # both ran at once
    page.click("#cancel-both")
    expect(page.locator("#pane-a [data-part=status]")).to_contain_text("cancelled")
    page.select_option("#pane-a [data-part=solver]", "shortest")
    page.click("#search-both")
    expect(page.locator("#pane-a [data-part=status]")).to_have_text("Solved in 2 moves.")
    expect(page.locator("#pane-b [data-part=status]")).to_have_text("Solved in 4 moves.")
    expect(page.locator("#comparison thead")).to_contain_text("net, shortestnet, detour")
    expect(page.locator("#comparison tbody")).to_contain_text("Length2 moves4 moves")
    page.select_option("#pane-b [data-part=speed]", "8")
    page.click("#play-both")
    expect(page.locator("#pane-a [data-part=reading]")).to_contain_text("Move 2 of 2")
    expect(page.locator("#pane-b [data-part=reading]")).to_contain_text("Move 4 of 4")


# Links


def test_a_link_restores_the_view(open_page, expect):
    given = {"view": "compare", "puzzle": "puzzle15", "state": after("puzzle15", "D R"), "seconds": "7"}
    given |= {"model": "net", "solver": "detour", "model2": "net", "solver2": "endless"}
    page = open_page(link(**given))
    expect(page.locator("#compare")).to_be_visible()
    expect(page.locator("#puzzle")).to_have_value("puzzle15")
    expect(page.locator("#pane-a [data-part=solver]")).to_have_value("detour")
    expect(page.locator("#pane-b [data-part=solver]")).to_have_value("endless")
    expect(page.locator("#compare-seconds")).to_have_value("7")
    assert carried(page) == given
    page.evaluate("fragment => { location.hash = fragment }", link(puzzle="hanoi_4", state="0120"))
    expect(page.locator("#puzzle")).to_have_value("hanoi_4")
    expect(page).to_have_url(state("0120"))
    expect(page.locator("#solve")).to_be_visible()


@pytest.mark.parametrize(
    "fields, sentence",
    [
        ({"puzzle": "<img src=x onerror=alert(1)>"}, "The link names a puzzle that is not there."),
        ({"puzzle": "puzzle8", "state": "<img/src=x> 2 3 4 5 6 7 8 0"}, "Unknown tile '<img'"),
        ({"puzzle": "puzzle8", "state": "2 1 3 4 5 6 7 8 0"}, "Impossible board: two tiles are exchanged"),
        ({"puzzle": "puzzle8", "model": "../../secret"}, "The link's network is not there"),
        ({"puzzle": "puzzle8", "solver": "telepathy"}, "The link's solver is not there"),
    ],
)
def test_a_link_with_nonsense_shows_a_sentence_as_text(open_page, expect, fields, sentence):
    page = open_page(link(**fields), refusals=True)
    notice = page.locator("#notice")
    expect(notice).to_be_visible()
    expect(notice).to_contain_text(sentence)
    expect(page.locator("#notice *, img, body script")).to_have_count(0)


# Everybody's page


def test_the_page_is_worked_by_keys_alone(open_page, expect):
    page = open_page(link(puzzle="puzzle8", state=after("puzzle8", "D R"), solver="shortest"))
    reached = []
    for _ in range(40):
        page.keyboard.press("Tab")
        focused = "document.activeElement"
        reached.append(page.evaluate(f"{focused}.id || {focused}.dataset.part || {focused}.getAttribute('class')"))
        outline = page.evaluate(f"getComputedStyle({focused}).outlineStyle")
        assert reached[-1] is None or outline != "none", reached[-1]
        if reached[-1] == "search":
            break
    order = [
        "puzzle",
        "view-solve",
        "open-help",
        "scene sliding",
        "undo",
        "scramble-button",
        "model",
        "solver",
        "search",
    ]
    assert [name for name in reached if name in order] == order
    page.keyboard.press("Enter")
    expect(page.locator("#solve [data-part=status]")).to_have_text("Solved in 2 moves.")
    assert page.locator("#solve [data-part=status]").get_attribute("role") == "status"
    page.keyboard.press("?")
    expect(page.locator("#help")).to_contain_text("slide a tile")
    page.keyboard.press("Escape")
    expect(page.locator("#help")).to_be_hidden()
    page.click("#open-help")
    page.click("#help button")
    expect(page.locator("#help")).to_be_hidden()


def test_every_control_has_a_name(open_page):
    page = open_page(link(puzzle="puzzle8", state=after("puzzle8", "D R")))
    solve(page)
    for control in page.locator("button:visible, input:visible, select:visible, textarea:visible").all():
        named = "e => e.labels?.length > 0 || Boolean(e.getAttribute('aria-label') || e.textContent.trim())"
        assert control.evaluate(named), control.evaluate("e => e.outerHTML")


@pytest.mark.parametrize("puzzle", PUZZLES)
def test_a_screen_360_px_wide_needs_no_horizontal_scrolling(open_page, expect, puzzle):
    page = open_page(link(puzzle=puzzle), **NARROW)
    page.click("summary")
    page.click("#edit")
    assert width(page) == 360
    page.click("#drop-draft")
    solve(page)
    assert width(page) == 360
    page.click("#view-compare")
    page.click("#search-both")
    expect(page.locator("#pane-b [data-part=player]")).to_be_visible()
    assert width(page) == 360


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast_in_the_light_and_in_the_dark(open_page, scheme):
    page = open_page(link(puzzle="puzzle8"), color_scheme=scheme)
    card = colour(page, "#start", "backgroundColor")
    assert (luminance(card) < 0.1) == (scheme == "dark")
    for element in ("#start-heading", "#scramble label", "summary", "#solve [data-part=told]"):
        assert contrast(colour(page, element, "color"), card) >= 4.5, element
    main = "#solve [data-part=search]"
    assert contrast(colour(page, main, "color"), colour(page, main, "backgroundColor")) >= 4.5


def colour(page, selector: str, name: str) -> np.ndarray:
    """A colour of an element, float [3] between 0 and 1."""
    text = page.locator(selector).first.evaluate(f"e => getComputedStyle(e).{name}")
    return np.array([float(part) for part in re.findall(r"[\d.]+", text)[:3]]) / 255


def luminance(rgb: np.ndarray) -> float:
    """Relative luminance as WCAG 2 has it."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one: np.ndarray, other: np.ndarray) -> float:
    """The contrast of two colours as WCAG 2 has it, 1 to 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_nothing_moves_for_who_wants_less_motion(open_page, expect):
    page = open_page(link(puzzle="puzzle8"), reduced_motion="reduce")
    assert page.locator("#board .tile").first.evaluate("e => getComputedStyle(e).transitionDuration") == "0s"
    page.select_option("#puzzle", "cube3")
    page.click("#actions button:text-is('R')")
    turned = page.locator("#board svg.scene").screenshot()
    expect(page).to_have_url(state(after("cube3", "R")))
    assert page.locator("#board svg.scene").screenshot() == turned
