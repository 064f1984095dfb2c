// The board of each kind of puzzle.

import * as cube from "./cube.js";
import * as hanoi from "./hanoi.js";
import * as lights from "./lights.js";
import * as plain from "./plain.js";
import * as sliding from "./sliding.js";
import * as sokoban from "./sokoban.js";

const KINDS = { cube, hanoi, lights, sliding, sokoban };
const BUTTONS = ["cube", "sokoban", "other"]; // kinds whose actions are also offered as buttons

const kindOf = (puzzle) => KINDS[puzzle.kind] ?? plain;

/**
 * A board for a puzzle. act(name) is called for the user's moves; null makes a board that only shows.
 * Returns {element, show(cells, {action, undone, time}), edit(on), draft()}: cells as the server has them; the action
 * that led to them, or that was undone, if it is to be animated, in milliseconds; what was painted or typed.
 */
export const createBoard = (puzzle, act) => kindOf(puzzle).create(puzzle, { act });

/** The keys of a puzzle's board, [keys, what they do] each. */
export const keysOf = (puzzle) => kindOf(puzzle).keys;

export const hasActionButtons = (puzzle) => BUTTONS.includes(puzzle.kind);
