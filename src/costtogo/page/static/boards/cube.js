// The 2×2×2 and 3×3×3 cube in three dimensions, drawn as SVG; a net of buttons beneath it to paint.

import { html, motionIsReduced, svg } from "../dom.js";
import { Camera, FACES, OPPOSITE, add, blockFaces, cross, dot, normalOf, stickers, turned } from "./cube_geometry.js";
import { buttonGrid } from "./grid.js";
import { palette } from "./palette.js";

const COLOURS = ["orange", "white", "green", "yellow", "red", "blue"]; // in the order of FACES: as the WCA holds it
const HELD = COLOURS.map((_, face) => face); // the colour of each face, white up and green in front
const VIEW = { yaw: 0.6, pitch: 0.5 };
const REACH = 1.85; // half the width of the drawing; the edge of the cube is 2 long
const QUARTER = Math.PI / 2;
const TURN_TIME = 220; // ms of a quarter turn
const DRAG_START = 6; // px before a press becomes a drag
const NET = { U: [0, 1], L: [1, 0], F: [1, 1], R: [1, 2], B: [1, 3], D: [2, 1] }; // row and column of each face

export const keys = [
  ["R U F L D B", "turn a face clockwise; with Shift back"],
  ["← → ↑ ↓", "turn the view; Home sets it back"],
];

export function create(puzzle, { act }) {
  return new CubeBoard(puzzle, act);
}

class CubeBoard {
  #size;
  #actions;
  #act;
  #stickers;
  #camera = new Camera(VIEW.yaw, VIEW.pitch);
  #cells = [];
  #colours = HELD; // of each face
  #draft = null; // the painted colours while painting
  #turn = null; // {face, angle} while a layer is between two states
  #frame = 0;
  #drag = null;
  #residue = null; // how far a layer that was just let go is from where its turn ends
  #palette;
  #scene; // the drawing, and in it two blocks of: faces of plastic, stickers, letters
  #blocks;
  #bodies;
  #tiles;
  #letters;
  #net;
  #netWanted = false;

  constructor(puzzle, act) {
    this.#size = puzzle.side;
    this.#actions = puzzle.actions;
    this.#act = act;
    this.#stickers = stickers(this.#size);
    this.#build();
    this.#listen();
  }

  /** Shows cells; after an action, or after one was undone, its layer turns into place in a time in milliseconds. */
  show(cells, { action = null, undone = false, time = TURN_TIME, colours } = {}) {
    this.#cells = cells;
    this.#colours = colours ?? HELD;
    const from = this.#residue ?? (Boolean(action?.endsWith("'")) === undone ? QUARTER : -QUARTER);
    this.#residue = null;
    this.#paintCells();
    if (action && time > 0 && !motionIsReduced()) this.#animate(action[0], from, time);
    else this.#rest();
  }

  /** Starts or ends painting. */
  edit(on) {
    this.#draft = on ? this.#seen() : null;
    this.#palette.element.hidden = !on;
    this.#net.element.hidden = !on && !this.#netWanted;
    this.element.classList.toggle("painting", on);
    this.#paintCells();
  }

  draft() {
    return this.#draft;
  }

  #build() {
    this.#palette = palette(
      "Colour to paint",
      COLOURS.map((colour, index) => ({
        text: `${FACES[index]} ${colour}`,
        picture: [svg("rect", { class: `sticker c${index}`, width: 1, height: 1 })],
      })),
    );
    this.#palette.element.hidden = true;
    this.#bodies = [0, 1].map(() => Array.from(FACES, () => svg("polygon", { class: "body" })));
    this.#tiles = this.#stickers.map(() => svg("polygon"));
    this.#letters = this.#stickers.map(() => svg("text", { class: "letter" }));
    this.#blocks = [0, 1].map(() => svg("g"));
    this.#scene = svg(
      "svg",
      { viewBox: `${-REACH} ${-REACH} ${2 * REACH} ${2 * REACH}`, class: "scene" },
      ...this.#blocks,
    );
    this.#net = buttonGrid(
      this.#stickers.map((_, cell) => netPlace(cell, this.#size)),
      (cell) => this.#paint(cell),
      "net",
    );
    this.#net.element.hidden = true;
    this.#net.element.addEventListener("keydown", (event) => this.#paintByKey(event));
    const letters = option("Letters", (on) => this.element.classList.toggle("lettered", on));
    const net = option("Net", (on) => {
      this.#netWanted = on;
      this.#net.element.hidden = !on && !this.#draft;
    });
    this.element = html("div", { class: "cube" }, this.#scene);
    if (this.#act)
      this.element.append(html("div", { class: "options" }, letters, net), this.#palette.element, this.#net.element);
    this.#rest();
  }

  /** The colour of each sticker as the cube is held. */
  #seen() {
    return this.#cells.map((face) => this.#colours[face]);
  }

  #paintCells() {
    (this.#draft ?? this.#seen()).forEach((colour, cell) => {
      this.#tiles[cell].setAttribute("class", `sticker c${colour}`);
      this.#letters[cell].textContent = this.#net.buttons[cell].textContent = FACES[colour];
      this.#net.buttons[cell].className = `c${colour}`;
      this.#net.buttons[cell].setAttribute("aria-label", `${this.#placeName(cell)}: ${COLOURS[colour]}`);
      this.#net.buttons[cell].disabled = !this.#draft;
    });
  }

  #placeName(cell) {
    const inFace = cell % this.#size ** 2;
    const [row, column] = [Math.floor(inFace / this.#size) + 1, (inFace % this.#size) + 1];
    return `face ${this.#stickers[cell].face}, row ${row}, column ${column}`;
  }

  // Drawing. The cube consists of two blocks: the turning layer and the rest. Each is convex, so that of each only
  // the faces turned to the eye are drawn, and the block on the far side of the cut comes first.

  #rest() {
    cancelAnimationFrame(this.#frame);
    this.#turn = null;
    this.#draw();
  }

  #draw() {
    const { face, angle } = this.#turn ?? { face: "U", angle: 0 };
    const normal = normalOf(face);
    const cut = 1 - 2 / this.#size;
    const inLayer = (sticker) => dot(sticker.centre, normal) > cut;
    this.#drawBlock(0, blockFaces(face, -1, cut), (sticker) => !inLayer(sticker), normal, 0);
    this.#drawBlock(1, blockFaces(face, cut, 1), inLayer, normal, angle);
    const layerIsNearer = this.#camera.height(normal) > cut;
    this.#scene.append(this.#blocks[layerIsNearer ? 0 : 1], this.#blocks[layerIsNearer ? 1 : 0]);
  }

  #drawBlock(number, faces, belongs, axis, angle) {
    const place = (point) => (angle ? turned(point, axis, angle) : point);
    const isSeen = (outward, centre) => this.#camera.faces(place(outward), place(centre));
    const drawn = [];
    faces.forEach(({ normal, centre, corners }, index) => {
      if (!isSeen(normal, centre)) return;
      drawn.push(
        outlined(
          this.#bodies[number][index],
          corners.map((corner) => this.#camera.project(place(corner))),
        ),
      );
    });
    this.#stickers.forEach(({ face, centre, corners }, cell) => {
      if (!belongs(this.#stickers[cell]) || !isSeen(normalOf(face), centre)) return;
      const points = corners.map((corner) => this.#camera.project(place(corner)));
      this.#letters[cell].setAttribute("transform", onSquare(points, this.#camera.project(place(centre))));
      drawn.push(outlined(this.#tiles[cell], points), this.#letters[cell]);
    });
    this.#blocks[number].replaceChildren(...drawn);
  }

  #animate(face, from, time) {
    cancelAnimationFrame(this.#frame);
    const began = performance.now();
    const step = (now) => {
      const done = Math.min(1, Math.max(0, now - began) / time);
      if (done === 1) {
        this.#rest();
        return;
      }
      this.#turn = { face, angle: from * (1 - done) * (1 - done) };
      this.#draw();
      this.#frame = requestAnimationFrame(step);
    };
    step(began);
  }

  // Turning and painting by hand.

  #listen() {
    this.#scene.addEventListener("pointerdown", (event) => this.#press(event));
    this.#scene.addEventListener("pointermove", (event) => this.#move(event));
    this.#scene.addEventListener("pointerup", () => this.#release());
    this.#scene.addEventListener("pointercancel", () => this.#release());
    this.#scene.setAttribute("tabindex", "0");
    this.#scene.setAttribute("role", "application");
    this.#scene.setAttribute(
      "aria-label",
      `${this.#size} × ${this.#size} × ${this.#size} cube: letters turn faces, arrow keys turn the view`,
    );
    this.#scene.addEventListener("keydown", (event) => this.#key(event));
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const views = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const face = event.key.toUpperCase();
    if (views[event.key]) this.#orbit(views[event.key][0] * 0.26, views[event.key][1] * 0.26);
    else if (event.key === "Home") this.#camera = new Camera(VIEW.yaw, VIEW.pitch);
    else if (this.#act && FACES.includes(face) && !this.#draft) this.#act(this.#named(face, event.shiftKey));
    else return;
    event.preventDefault();
    if (!this.#turn) this.#draw();
  }

  /** The action of a turn: where a face never turns (2×2×2), that of the opposite one, which gives the same cube. */
  #named(face, back) {
    const name = (which) => which + (back ? "'" : "");
    return this.#actions.includes(name(face)) ? name(face) : name(OPPOSITE[face]);
  }

  #orbit(right, up) {
    this.#camera.yaw -= right;
    this.#camera.pitch = Math.max(-1.5, Math.min(1.5, this.#camera.pitch + up));
  }

  #press(event) {
    if (event.button !== 0 || this.#drag) return;
    const cell = this.#tiles.indexOf(event.target);
    if (this.#draft && cell >= 0) {
      this.#paint(cell);
      return;
    }
    this.#rest();
    this.#scene.setPointerCapture(event.pointerId);
    this.#drag = { cell, x: event.clientX, y: event.clientY, face: null, orbits: cell < 0 || !this.#act, angle: 0 };
  }

  #move(event) {
    const drag = this.#drag;
    if (!drag) return;
    const moved = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.face && !drag.orbits) {
      if (Math.hypot(...moved) < DRAG_START) return;
      Object.assign(drag, this.#layerFor(drag.cell, moved) ?? { orbits: true });
    }
    if (drag.orbits) {
      this.#orbit(moved[0] * 0.01, moved[1] * 0.01);
      [drag.x, drag.y] = [event.clientX, event.clientY];
    } else {
      drag.angle = dot([...moved, 0], [...drag.pull, 0]);
      this.#turn = drag;
    }
    this.#draw();
  }

  #release() {
    const drag = this.#drag;
    if (!drag) return;
    const quarters = Math.max(-2, Math.min(2, Math.round(drag.angle / QUARTER)));
    this.#drag = null;
    if (!drag.face) return;
    if (quarters === 0) {
      this.#animate(drag.face, drag.angle, TURN_TIME);
      return;
    }
    const action = this.#named(drag.face, quarters > 0);
    if (Math.abs(quarters) === 2) {
      this.#residue = 0;
      this.#act(action);
    }
    this.#residue = drag.angle - quarters * QUARTER;
    this.#act(action);
  }

  /** Which face a drag of a sticker turns, and the screen vector whose product with the drag is the angle. */
  #layerFor(cell, moved) {
    const { face: own, centre } = this.#stickers[cell];
    const pixels = this.#scene.getBoundingClientRect().width / (2 * REACH);
    let best = null;
    let most = 0.5 * Math.hypot(...moved);
    for (const face of FACES) {
      const normal = normalOf(face);
      const contains = dot(centre, normal) > 1 - 2 / this.#size;
      if (face === own || face === OPPOSITE[own] || !contains) continue;
      const small = 0.01;
      const [from, to] = [centre, add(centre, cross(normal, centre), small)].map((point) =>
        this.#camera.project(point),
      );
      const speed = [0, 1].map((i) => ((to[i] - from[i]) / small) * pixels); // px a radian
      const along = dot([...moved, 0], [...speed, 0]) / Math.hypot(...speed);
      if (Math.abs(along) <= most) continue;
      most = Math.abs(along);
      const turning = this.#actions.includes(face) ? face : OPPOSITE[face];
      best = { face: turning, pull: speed.map((value) => value / dot([...speed, 0], [...speed, 0])) };
    }
    return best;
  }

  #paint(cell) {
    if (!this.#draft) return;
    this.#draft[cell] = this.#palette.value();
    this.#paintCells();
  }

  #paintByKey(event) {
    const colour = FACES.indexOf(event.key.toUpperCase());
    const cell = this.#net.buttons.indexOf(event.target);
    if (colour < 0 || cell < 0 || event.ctrlKey || event.metaKey) return;
    this.#palette.choose(colour);
    this.#paint(cell);
  }
}

function option(text, change) {
  const input = html("input", { type: "checkbox", on: { change: () => change(input.checked) } });
  return html("label", {}, input, text);
}

function outlined(polygon, points) {
  polygon.setAttribute("points", points.map(([x, y]) => `${x.toFixed(4)},${y.toFixed(4)}`).join(" "));
  return polygon;
}

/** The transform that puts a drawing 2 × 2 units large around the origin onto a square seen in perspective. */
function onSquare([topLeft, topRight, bottomRight, bottomLeft], [x, y]) {
  const half = (from, to) => [0, 1].map((i) => (to[i] - from[i]) / 4);
  const [right, rightBelow] = [half(topLeft, topRight), half(bottomLeft, bottomRight)];
  const [down, downRight] = [half(topLeft, bottomLeft), half(topRight, bottomRight)];
  const numbers = [
    right[0] + rightBelow[0],
    right[1] + rightBelow[1],
    down[0] + downRight[0],
    down[1] + downRight[1],
    x,
    y,
  ];
  return `matrix(${numbers.map((number) => number.toFixed(4)).join(" ")})`;
}

function netPlace(cell, size) {
  const [row, column] = NET[FACES[Math.floor(cell / size ** 2)]];
  const inFace = cell % size ** 2;
  return [row * size + Math.floor(inFace / size), column * size + (inFace % size)];
}
