// The dialog that lists the keys of the board and of the player.

import { keysOf } from "./boards/boards.js";
import { html } from "./dom.js";
import { keys as playerKeys } from "./player.js";

const GENERAL = [
  ["Tab", "go on to the next control; the board is one of them"],
  ["?", "this list"],
];

/** Shows the keys that work with a puzzle. */
export function showHelp(puzzle) {
  const groups = [
    ["On the board", keysOf(puzzle)],
    ["Solution, on the board or in the search", playerKeys],
    ["Everywhere", GENERAL],
  ];
  const rows = groups
    .filter(([, keys]) => keys.length)
    .flatMap(([title, keys]) => [
      html("tr", {}, html("th", { colspan: 2, scope: "rowgroup" }, title)),
      ...keys.map(([key, meaning]) => html("tr", {}, html("td", {}, html("kbd", {}, key)), html("td", {}, meaning))),
    ]);
  document.getElementById("help-keys").replaceChildren(...rows);
  const dialog = document.getElementById("help");
  if (!dialog.open) dialog.showModal();
}
