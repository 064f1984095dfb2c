// Lights Out as a grid of buttons; while editing, a click switches one light alone.

import { buttonGrid, rectangle } from "./grid.js";
import { html } from "../dom.js";

export const keys = [
  ["← → ↑ ↓", "go to a light"],
  ["Enter or Space", "press it"],
];

export function create(puzzle, { act }) {
  const { side } = puzzle;
  let cells = puzzle.goal;
  let painted = null;
  const grid = buttonGrid(rectangle(side, side), press, "lights");
  if (!act) grid.buttons.forEach((button) => button.toggleAttribute("disabled", true));

  function press(cell) {
    if (!painted) {
      act(puzzle.actions[cell]);
      return;
    }
    painted[cell] = 1 - painted[cell];
    draw(painted);
  }

  function draw(lights) {
    grid.buttons.forEach((button, cell) => {
      button.setAttribute("aria-pressed", String(lights[cell] === 1));
      button.setAttribute("aria-label", `row ${Math.floor(cell / side) + 1}, column ${(cell % side) + 1}`);
    });
  }

  function show(shown, { action = null } = {}) {
    cells = shown;
    draw(shown);
    grid.buttons.forEach((button, cell) => button.classList.toggle("pressed", puzzle.actions[cell] === action));
  }

  function edit(on) {
    painted = on ? [...cells] : null;
    draw(cells);
  }

  return { element: html("div", { class: "lights-board" }, grid.element), show, edit, draft: () => painted };
}
