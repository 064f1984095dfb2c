// Any other puzzle: the value of each cell in a row of squares. Its actions are the buttons beneath the board.

import { html } from "../dom.js";

export const keys = [];

export function create(puzzle) {
  const fields = puzzle.goal.map((_, cell) =>
    html("input", {
      inputmode: "numeric",
      maxlength: 3,
      autocomplete: "off",
      "aria-label": `cell ${cell}`,
      readonly: true,
    }),
  );
  const element = html("div", { class: "grid plain-board" }, ...fields);
  const show = (cells) =>
    cells.forEach((value, cell) => {
      fields[cell].value = value;
    });
  const edit = (on) => fields.forEach((field) => field.toggleAttribute("readonly", !on));
  return { element, show, edit, draft: () => fields.map((field) => Number(field.value)) };
}
