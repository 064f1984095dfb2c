// Sokoban as SVG: arrow keys or a click beside the player; while editing, a click paints what the palette says.

import { html, svg } from "../dom.js";
import { palette } from "./palette.js";

const NAMES = ["floor", "target", "box", "box on target", "player", "player on target", "wall"];
const [TARGET, BOX, BOX_ON_TARGET, PLAYER, PLAYER_ON_TARGET, WALL] = [1, 2, 3, 4, 5, 6];
const ARROWS = { ArrowUp: "U", ArrowDown: "D", ArrowLeft: "L", ArrowRight: "R" };

export const keys = [["← → ↑ ↓", "step, and push the box that is in the way"]];

export function create(puzzle, { act }) {
  const rows = puzzle.rows ?? puzzle.side;
  const columns = puzzle.columns ?? puzzle.side;
  let cells = puzzle.goal;
  let painted = null;
  const squares = cells.map((_, cell) =>
    svg("g", { class: "cell", transform: `translate(${cell % columns} ${Math.floor(cell / columns)})` }),
  );
  const scene = svg("svg", { viewBox: `0 0 ${columns} ${rows}`, class: "scene sokoban" }, ...squares);
  const choice = palette(
    "What to paint",
    NAMES.map((text, letter) => ({ text, picture: drawCell(letter) })),
  );
  choice.element.hidden = true;
  const element = html("div", { class: "sokoban-board" }, scene, choice.element);

  if (act) {
    scene.setAttribute("tabindex", "0");
    scene.setAttribute("role", "application");
    scene.addEventListener("keydown", (event) => {
      if (!ARROWS[event.key] || painted) return;
      event.preventDefault();
      act(ARROWS[event.key]);
    });
    scene.addEventListener("pointerdown", (event) => {
      const cell = squares.indexOf(event.target.closest("g.cell"));
      if (cell < 0) return;
      if (painted) paint(cell);
      else stepTo(cell);
    });
  }

  function paint(cell) {
    painted[cell] = choice.value();
    draw(painted);
  }

  function stepTo(cell) {
    const player = cells.findIndex((letter) => letter === PLAYER || letter === PLAYER_ON_TARGET);
    const steps = { [player - columns]: "U", [player + columns]: "D", [player - 1]: "L", [player + 1]: "R" };
    if (steps[cell]) act(steps[cell]);
  }

  function draw(shown) {
    shown.forEach((letter, cell) => squares[cell].replaceChildren(...drawCell(letter)));
    const boxes = shown.filter((letter) => letter === BOX).length;
    scene.setAttribute(
      "aria-label",
      `Sokoban level of ${rows} rows and ${columns} columns, boxes off their targets: ${boxes}`,
    );
  }

  function show(shown) {
    cells = shown;
    draw(shown);
  }

  function edit(on) {
    painted = on ? [...cells] : null;
    choice.element.hidden = !on;
    draw(cells);
  }

  return { element, show, edit, draft: () => painted };
}

function drawCell(letter) {
  const square =
    letter === WALL
      ? svg("rect", { class: "wall", x: 0.02, y: 0.02, width: 0.96, height: 0.96, rx: 0.06 })
      : svg("rect", { class: "floor", width: 1.01, height: 1.01 });
  const drawing = [square];
  if (letter === TARGET || letter === PLAYER_ON_TARGET) {
    drawing.push(svg("circle", { class: "target", cx: 0.5, cy: 0.5, r: letter === TARGET ? 0.17 : 0.44 }));
  }
  if (letter === BOX || letter === BOX_ON_TARGET) {
    drawing.push(
      svg("rect", {
        class: letter === BOX ? "box" : "box done",
        x: 0.12,
        y: 0.12,
        width: 0.76,
        height: 0.76,
        rx: 0.08,
      }),
    );
    drawing.push(
      svg("path", { class: "box-mark", d: letter === BOX ? "M.27.27 .73.73M.73.27 .27.73" : "M.27.53 .44.7 .74.33" }),
    );
  }
  if (letter === PLAYER || letter === PLAYER_ON_TARGET) {
    drawing.push(
      svg("circle", { class: "player", cx: 0.5, cy: 0.34, r: 0.17 }),
      svg("path", { class: "player", d: "M.2.86 a.3.32 0 0 1 .6 0z" }),
    );
  }
  return drawing;
}
