// Sliding tiles of any side, drawn as SVG; while editing, a field for the tile of each cell.

import { html, svg } from "../dom.js";

const ARROWS = { ArrowUp: "U", ArrowDown: "D", ArrowLeft: "L", ArrowRight: "R" };

export const keys = [["← → ↑ ↓", "slide a tile in that direction into the blank"]];

export function create(puzzle, { act }) {
  const { side, cells: count } = puzzle;
  const home = new Map(puzzle.goal.map((tile, cell) => [tile, cell]));
  const tiles = new Map(puzzle.goal.filter((tile) => tile > 0).map((tile) => [tile, drawTile(tile)]));
  const scene = svg(
    "svg",
    { viewBox: `-0.06 -0.06 ${side + 0.12} ${side + 0.12}`, class: "scene sliding" },
    svg("rect", { class: "tray", x: -0.06, y: -0.06, width: side + 0.12, height: side + 0.12, rx: 0.1 }),
    ...tiles.values(),
  );
  const fields = Array.from({ length: count }, (_, cell) =>
    html("input", {
      inputmode: "numeric",
      maxlength: 2,
      autocomplete: "off",
      "aria-label": `row ${Math.floor(cell / side) + 1}, column ${(cell % side) + 1}`,
    }),
  );
  const editor = html("div", { class: "grid tile-editor", hidden: true }, ...fields);
  editor.style.gridTemplateColumns = `repeat(${side}, 1fr)`;
  const element = html("div", { class: "sliding-board" }, scene, editor);
  let cells = puzzle.goal;

  if (act) {
    scene.setAttribute("tabindex", "0");
    scene.setAttribute("role", "application");
    scene.addEventListener("keydown", (event) => {
      if (!ARROWS[event.key]) return;
      event.preventDefault();
      act(ARROWS[event.key]);
    });
    // Not "click": browsers make no click of a tap that follows another touch within a tenth of a second.
    for (const [tile, drawing] of tiles) {
      drawing.addEventListener("pointerdown", (event) => event.button === 0 && slide(cells.indexOf(tile)));
    }
  }

  /** Slides a tile in the blank's row or column, with those between, towards the blank. */
  function slide(from) {
    const blank = cells.indexOf(0);
    const [down, right] = [Math.floor(blank / side) - Math.floor(from / side), (blank % side) - (from % side)];
    if (down !== 0 && right !== 0) return;
    const action = down ? (down < 0 ? "U" : "D") : right < 0 ? "L" : "R";
    for (let step = 0; step < Math.abs(down + right); step += 1) act(action);
  }

  function show(shown) {
    cells = shown;
    shown.forEach((tile, cell) => {
      if (tile === 0) return;
      const drawing = tiles.get(tile);
      drawing.style.transform = `translate(${cell % side}px, ${Math.floor(cell / side)}px)`;
      drawing.classList.toggle("home", home.get(tile) === cell);
    });
    scene.setAttribute(
      "aria-label",
      `${count - 1} tiles, row by row: ${shown.map((tile) => tile || "blank").join(" ")}`,
    );
  }

  function edit(on) {
    scene.toggleAttribute("hidden", on);
    editor.hidden = !on;
    fields.forEach((field, cell) => {
      field.value = cells[cell] || "";
    });
  }

  /** The tiles typed; an empty field is the blank, and what is no number becomes a tile that no board has. */
  const draft = () => fields.map((field) => (/^\d*$/.test(field.value.trim()) ? Number(field.value) : 255));

  return { element, show, edit, draft };
}

function drawTile(tile) {
  const size = tile > 9 ? 0.42 : 0.5;
  return svg(
    "g",
    { class: "tile" },
    svg("rect", { x: 0.03, y: 0.03, width: 0.94, height: 0.94, rx: 0.09 }),
    svg("text", { x: 0.5, y: 0.5, "font-size": size }, String(tile)),
  );
}
