"""Local value iteration: its theorems recomputed, its boards solved again: results/<study>/local_vi/<puzzle>/.

subproblems.parquet has a row for each subproblem that occurs, shares.parquet one for each step and number of tiles
considered in it, classes.parquet one for each class of boards, preferences.parquet one for each order of the moves.
policy.parquet shows what the policy does with each tile. boards.parquet has the lengths of the solutions of random
boards, larger.parquet a row for each other side.
"""

import time
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd

from costtogo.analysis.local_vi import Exact, boards_of, exact, placements, sizes_of_uniform_blank
from costtogo.learning.local_vi import (
    UNREACHED,
    Local,
    LocalSolutions,
    band_order,
    distances,
)
from costtogo.progress import say
from costtogo.puzzles.sliding import BLANK, SlidingTiles
from costtogo.stages.stage_run import StageRun
from costtogo.types import States, UserError

Clock = list[dict]  # rows of wall-clock times


def run(params: Path, out: Path) -> None:
    """Write the tables; out is their folder."""
    stage = StageRun("local_vi", __name__, params, out, [])
    asked, puzzle = stage.parameters, stage.puzzle
    generator = np.random.default_rng(asked["seed"])
    locals_ = {size: Local(puzzle, size) for size in asked["sizes"]}
    with stage.part("exact"):
        found = {size: exact(local) for size, local in locals_.items()}
    tables = {
        "subproblems": pd.concat([subproblems_of(local) for local in locals_.values()], ignore_index=True),
        "shares": pd.concat([shares_of(local, found[size]) for size, local in locals_.items()], ignore_index=True),
        "preferences": preferences_of(locals_),
    }
    tables["classes"] = pd.concat(
        [classes_of(local, found[size], tables["subproblems"]) for size, local in locals_.items()], ignore_index=True
    )
    starts, clock = random_boards(puzzle, asked["boards"], generator), training_seconds(locals_)
    boards = []
    for size, local in locals_.items():
        solved, seconds = solve(puzzle, local, starts)
        boards.append(counted(size, solved))
        clock.append({"side": puzzle.side, "initial_size": size, "what": "boards", "seconds": seconds})
        say(describe(size, solved, seconds))
    tables["boards"] = pd.concat(boards, ignore_index=True)
    tables["policy"] = pd.concat([policy_of(locals_[1], step) for step in range(puzzle.cells - 1)])
    with stage.part("larger"):
        tables["larger"] = pd.DataFrame([larger(row, generator, clock) for row in asked["larger"]])
    metrics = {
        f"size{size}_{name}": value
        for size, result in found.items()
        for name, value in (("average_moves", float(result.average)), ("maximum_moves", result.most))
    }
    stage.finish_tables(tables, metrics, pd.DataFrame(clock), threads=1)


def random_boards(puzzle: SlidingTiles, count: int, generator: np.random.Generator) -> States:
    """Boards that can be solved, each as likely as any other, uint8 [count, D]."""
    states = generator.permuted(np.tile(puzzle.goal, (count, 1)), axis=1)
    odd = np.flatnonzero(~puzzle.is_reachable(states))
    tiles = np.argsort(states[odd] == BLANK, axis=1, kind="stable")[:, :2]  # two cells that are not the blank's
    states[odd[:, None], tiles] = states[odd[:, None], tiles[:, ::-1]]
    return states


def counted(size: int, solved: LocalSolutions) -> pd.DataFrame:
    """How many boards there are of each length and of each most tiles considered at once; size: the initial one."""
    each = pd.DataFrame({"initial_size": size, "considered": solved.sizes.max(axis=1), "length": solved.length})
    return each.groupby([*each], as_index=False).size().rename(columns={"size": "boards"})


def subproblems_of(local: Local) -> pd.DataFrame:
    """A row for each subproblem for which a board may call; those that were tried and did not do are among them."""
    rows = []
    for problem, values in local.values.items():
        reached = values[values != UNREACHED]
        rows.append(
            {
                "initial_size": local.size,
                "tile": problem.tiles[-1],
                "considered": len(problem.tiles),
                "tiles": " ".join(str(tile) for tile in problem.tiles),
                "fixed": len(problem.fixed),
                "states": problem.state_count,
                "solvable": len(reached),
                "most_moves": int(reached.max()),
            }
        )
    return pd.DataFrame(rows)


def shares_of(local: Local, found: Exact) -> pd.DataFrame:
    """The share of boards by step and tiles considered, exact as a fraction; uniform: if the blank lay at random."""
    rows = []
    for step, shares in enumerate(found.sizes):
        uniform = sizes_of_uniform_blank(local, step)
        for considered, share in shares.items():
            row = {"initial_size": local.size, "tile": local.steps[step][-1], "considered": considered}
            rows.append({**row, "share": str(share), "uniform": str(uniform.get(considered, Fraction(0)))})
    return pd.DataFrame(rows)


def classes_of(local: Local, found: Exact, subproblems: pd.DataFrame) -> pd.DataFrame:
    """The classes of boards by the most tiles considered at once.

    share and average: exact, as fractions.  maximum_moves: of the board with the most.  bound: the document's φ, the
    sum over the steps of the most moves of any subproblem that they call for in the class.
    """
    own = subproblems[subproblems["initial_size"] == local.size].set_index(["tile", "considered"])["most_moves"]
    rows = []
    for considered, followed in found.classes.items():
        bound = 0
        for step, shares in enumerate(found.sizes):
            tile = local.steps[step][-1]
            bound += max((own[tile, size] for size in shares if size <= considered), default=0)
        rows.append(
            {
                "initial_size": local.size,
                "considered": considered,
                "share": str(followed.share),
                "average_moves": str(followed.moves / followed.share),
                "maximum_moves": followed.most,
                "bound": int(bound),
            }
        )
    return pd.DataFrame(rows)


def preferences_of(locals_: dict[int, Local]) -> pd.DataFrame:
    """Average and most moves of each class, for each order in which a policy may take equally good moves.

    considered: 0 for all boards.
    """
    rows = []
    for size, local in locals_.items():
        for preference in permutations(range(len(local.puzzle.actions))):
            found = exact(Local(local.puzzle, size, local.order, preference, local.values))
            named = {"initial_size": size, "order": "".join(local.puzzle.actions[action] for action in preference)}
            moves = {0: (found.average, found.most)}
            moves |= {considered: (part.moves / part.share, part.most) for considered, part in found.classes.items()}
            rows += [
                {**named, "considered": considered, "average_moves": float(average), "maximum_moves": most}
                for considered, (average, most) in moves.items()
            ]
    return pd.DataFrame(rows)


def policy_of(local: Local, step: int) -> pd.DataFrame:
    """A row for each placement of the one tile of a step and the blank, the tiles before it being home.

    moves: until it is home, too.  to: the cell that the tile is first moved to, or where it lies if it never is.
    """
    puzzle, tile = local.puzzle, local.steps[step][-1]
    placed = placements(local, step)
    cells = placed.cells[placed.boards > 0]
    boards, others = boards_of(local, step, cells), local.order(puzzle.side)[(step + 1) * local.size :]
    if len(others) >= 2:
        odd = np.flatnonzero(~puzzle.is_reachable(boards))
        exchanged = np.arange(puzzle.cells, dtype=np.uint8)
        exchanged[list(others[:2])] = others[1::-1]
        boards[odd] = exchanged[boards[odd]]
    solved = local.solve(boards)
    to, states, moves = cells[:, 1].copy(), boards, solved.moves[:, step]
    for move_number in range(int(moves.max())):
        still = np.flatnonzero((moves > move_number) & (to == cells[:, 1]))
        states[still] = puzzle.move(states[still], solved.actions[still, move_number])
        to[still] = (states[still] == tile).argmax(axis=1)
    columns = {"tile": tile, "cell": cells[:, 1], "blank": cells[:, 0], "moves": moves, "to": to}
    return pd.DataFrame(columns).astype(np.int64)


def training_seconds(locals_: dict[int, Local]) -> Clock:
    """What all value functions of each initial size take, made anew one after another."""
    rows = []
    for size, local in locals_.items():
        begun = time.perf_counter()
        for problem in local.values:
            distances(problem)
        seconds = time.perf_counter() - begun
        rows.append({"side": local.puzzle.side, "initial_size": size, "what": "value functions", "seconds": seconds})
    return rows


def solve(puzzle: SlidingTiles, local: Local, starts: States) -> tuple[LocalSolutions, float]:
    """Solve boards whose value functions are made, and take the seconds; every solution is replayed."""
    local.solve(starts)
    begun = time.perf_counter()
    solved = local.solve(starts)
    seconds = time.perf_counter() - begun
    if not replayed(puzzle, starts, solved).all():
        raise UserError(f"A solution of {puzzle.name} does not reach the goal: a defect of local value iteration.")
    return solved, seconds


def replayed(puzzle: SlidingTiles, starts: States, solved: LocalSolutions) -> np.ndarray:
    """Whether each solution reaches the goal by legal moves alone, bool [B]."""
    states, valid = starts.copy(), np.ones(len(starts), dtype=bool)
    for step in range(solved.actions.shape[1]):
        rows = np.flatnonzero(solved.length > step)
        actions = solved.actions[rows, step]
        valid[rows] &= puzzle.legal(states[rows])[np.arange(len(rows)), actions]
        states[rows] = puzzle.move(states[rows], actions)
    return valid & puzzle.is_goal(states)


def describe(size: int, solved: LocalSolutions, seconds: float) -> str:
    """One line on solved boards."""
    return (
        f"size {size}: {len(solved.length):,} boards solved and replayed, {solved.length.mean():.2f} moves, at most "
        f"{solved.length.max()}, {1e6 * seconds / len(solved.length):.1f} µs each"
    )


def larger(asked: dict, generator: np.random.Generator, clock: Clock) -> dict:
    """Boards of another side, and if it is asked for all of them."""
    puzzle = SlidingTiles(asked["side"])
    local, starts = Local(puzzle, order=band_order), random_boards(puzzle, asked["boards"], generator)
    solved, seconds = solve(puzzle, local, starts)
    clock.append({"side": puzzle.side, "initial_size": local.size, "what": "boards", "seconds": seconds})
    clock += training_seconds({local.size: local})
    say(f"{puzzle.name}, {describe(local.size, solved, seconds)}")
    whole = exact(local) if asked["exact"] else None
    return {
        "side": puzzle.side,
        "boards": len(starts),
        "average_moves": solved.length.mean(),
        "longest": int(solved.length.max()),
        "considered": int(solved.sizes.max()),
        "subproblems": len(local.values),
        "states": sum(problem.state_count for problem in local.values),
        "exact_average_moves": float(whole.average) if whole else np.nan,
        "maximum_moves": whole.most if whole else np.nan,
    }
