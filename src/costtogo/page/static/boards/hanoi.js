// The Towers of Hanoi as SVG: click, drag or type two pegs; while editing, a click takes a disk to the next peg.

import { html, svg } from "../dom.js";

const HEIGHT = 1.4; // of a disk; its width is 1.5 and more
const DRAG_START = 6; // px before a press becomes a drag

export const keys = [
  ["0 1 2 …", "first the peg to take the top disk from, then the peg to put it on"],
  ["Escape", "put it back"],
];

export function create(puzzle, { act }) {
  const { cells: count, letters: pegs } = puzzle;
  const width = count + 2; // of a peg's share of the board; disk d is d + 1.5 wide
  const [floor, top] = [count * HEIGHT + 1, -0.6];
  const disks = Array.from({ length: count }, (_, disk) =>
    svg("rect", {
      class: `disk ${disk % 2 ? "odd" : "even"}`,
      x: -(disk + 1.5) / 2,
      y: 0.06,
      width: disk + 1.5,
      height: HEIGHT - 0.12,
      rx: 0.3,
    }),
  );
  const shares = Array.from({ length: pegs }, (_, peg) => drawPeg(peg));
  const scene = svg(
    "svg",
    { viewBox: `0 ${top} ${width * pegs} ${floor - top + 1.4}`, class: "scene hanoi" },
    ...shares,
    ...disks,
  );
  const element = html("div", { class: "hanoi-board" }, scene);
  let cells = puzzle.goal;
  let painted = null;
  let taken = null; // the peg whose top disk is in the air
  let press = null;

  function drawPeg(peg) {
    const middle = width * (peg + 0.5);
    return svg(
      "g",
      { class: "peg" },
      svg("rect", { class: "share", x: width * peg, y: top, width, height: floor - top + 1.4 }),
      svg("rect", { class: "pole", x: middle - 0.12, y: 0.4, width: 0.24, height: floor - 0.4, rx: 0.1 }),
      svg("rect", { class: "pole", x: width * peg + 0.2, y: floor, width: width - 0.4, height: 0.2, rx: 0.1 }),
      svg("text", { x: middle, y: floor + 0.85, "font-size": Math.min(0.9, 0.3 + width / 12) }, String(peg)),
    );
  }

  if (act) {
    scene.setAttribute("tabindex", "0");
    scene.setAttribute("role", "application");
    scene.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "Escape") lift(null);
      else if (/^\d$/.test(event.key) && Number(event.key) < pegs) choose(Number(event.key));
    });
    scene.addEventListener("pointerdown", (event) => {
      const peg = pegAt(event);
      if (painted) {
        const disk = disks.indexOf(event.target);
        if (disk >= 0) painted[disk] = (painted[disk] + 1) % pegs;
        draw(painted);
      } else {
        press = { peg, x: event.clientX, y: event.clientY, drags: false };
      }
    });
    scene.addEventListener("pointermove", (event) => {
      if (!press || press.drags || Math.hypot(event.clientX - press.x, event.clientY - press.y) < DRAG_START) return;
      press.drags = true;
      scene.setPointerCapture(event.pointerId);
      lift(press.peg);
    });
    scene.addEventListener("pointerup", (event) => {
      if (press) choose(pegAt(event));
      press = null;
    });
    scene.addEventListener("pointercancel", () => {
      press = null;
      lift(null);
    });
  }

  function pegAt(event) {
    const box = scene.getBoundingClientRect();
    return Math.max(0, Math.min(pegs - 1, Math.floor(((event.clientX - box.left) / box.width) * pegs)));
  }

  /** The first peg lifts its top disk; the second is where it goes. */
  function choose(peg) {
    if (taken === null) {
      lift(peg);
      return;
    }
    const from = taken;
    lift(null);
    if (from !== peg) act(`${from}>${peg}`);
  }

  function lift(peg) {
    taken = peg !== null && cells.includes(peg) ? peg : null;
    draw(cells);
  }

  function draw(shown) {
    const heights = new Array(pegs).fill(0);
    for (let disk = count - 1; disk >= 0; disk -= 1) {
      const peg = shown[disk];
      heights[peg] += 1;
      const inAir = taken === peg && shown.indexOf(peg) === disk;
      const y = inAir ? top + 0.1 : floor - heights[peg] * HEIGHT;
      disks[disk].style.transform = `translate(${width * (peg + 0.5)}px, ${y}px)`;
      disks[disk].classList.toggle("lifted", inAir);
    }
    const towers = shares.map(
      (_, peg) => `peg ${peg}: ${shown.flatMap((at, disk) => (at === peg ? [disk] : [])).join(" ") || "empty"}`,
    );
    scene.setAttribute("aria-label", `Disks, the smallest is 0. ${towers.join("; ")}`);
  }

  function show(shown) {
    cells = shown;
    taken = null;
    draw(shown);
  }

  function edit(on) {
    painted = on ? [...cells] : null;
    taken = null;
    draw(cells);
  }

  return { element, show, edit, draft: () => painted };
}
