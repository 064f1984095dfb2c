// A grid of buttons of which one at a time is in the tab order; arrow keys go to its neighbours.

import { html } from "../dom.js";

const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/**
 * places: [row, column] of each button, from 0. press(cell, event) is called for a click, Enter and the space bar.
 * Returns {element, buttons}.
 */
export function buttonGrid(places, press, className) {
  const buttons = places.map(([row, column], cell) => {
    const button = html("button", {
      type: "button",
      tabindex: cell === 0 ? "0" : "-1",
      on: { click: () => press(cell) },
    });
    button.style.gridArea = `${row + 1} / ${column + 1}`;
    return button;
  });
  const focus = (cell) => {
    buttons.forEach((button, other) => button.setAttribute("tabindex", other === cell ? "0" : "-1"));
    buttons[cell].focus();
  };
  const element = html(
    "div",
    {
      class: `grid ${className}`,
      on: {
        keydown: (event) => {
          const direction = ARROWS[event.key];
          const from = buttons.indexOf(event.target);
          if (!direction || from < 0) return;
          event.preventDefault();
          event.stopPropagation();
          focus(neighbour(places, from, direction));
        },
        focusin: (event) => {
          const cell = buttons.indexOf(event.target);
          if (cell >= 0)
            buttons.forEach((button, other) => button.setAttribute("tabindex", other === cell ? "0" : "-1"));
        },
      },
    },
    ...buttons,
  );
  return { element, buttons };
}

/** The places of a board of rows × columns cells, row by row. */
export const rectangle = (rows, columns) =>
  Array.from({ length: rows * columns }, (_, cell) => [Math.floor(cell / columns), cell % columns]);

/** The nearest place in a direction, first in the same row or column; the place itself where there is none. */
function neighbour(places, from, [down, right]) {
  const [row, column] = places[from];
  let best = from;
  let least = Infinity;
  places.forEach(([otherRow, otherColumn], cell) => {
    const along = (otherRow - row) * down + (otherColumn - column) * right;
    const aside = Math.abs((otherRow - row) * right) + Math.abs((otherColumn - column) * down);
    const distance = along + 100 * aside;
    if (along > 0 && distance < least) [best, least] = [cell, distance];
  });
  return best;
}
