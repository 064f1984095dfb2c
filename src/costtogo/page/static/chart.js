// Cost-to-go along a solution, drawn as SVG: the network's, the exact one where it is known, and the moves left.

import { html, svg } from "./dom.js";

const HEIGHT = 170;
const MARGIN = { top: 10, right: 12, bottom: 34, left: 38 };
const MOST_MARKS = 60; // longer solutions are drawn as lines alone

/** series: {network, exact, left}, each a number or null for every state. seek(step) is called for a click. */
export function createChart({ network, exact, left }, seek) {
  const all = [
    { name: "moves left", className: "left", values: left },
    { name: "exact", className: "exact", values: exact },
    { name: "network", className: "network", values: network },
  ].filter(({ values }) => values.some(isKnown));
  const steps = left.length - 1;
  const highest = Math.max(1, ...all.flatMap(({ values }) => values.filter(isKnown)));
  const canvas = svg("svg", {
    class: "chart",
    height: HEIGHT,
    role: "img",
    "aria-label": describe(network, exact, steps),
  });
  const legend = html("p", { class: "legend", "aria-hidden": "true" }, ...all.map(legendEntry).reverse());
  const cursor = svg("line", { class: "cursor", y1: MARGIN.top, y2: HEIGHT - MARGIN.bottom });
  let scale = null;
  let current = 0;

  function draw(width) {
    const x = (step) => MARGIN.left + ((width - MARGIN.left - MARGIN.right) * step) / Math.max(1, steps);
    const y = (value) => HEIGHT - MARGIN.bottom - ((HEIGHT - MARGIN.top - MARGIN.bottom) * value) / highest;
    scale = { x, width };
    canvas.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    canvas.setAttribute("width", width);
    canvas.replaceChildren(...axes(x, y, width), ...all.flatMap((series) => lines(series, x, y)), cursor);
    mark(current);
  }

  function axes(x, y, width) {
    const across = ticks(steps, Math.max(2, Math.floor(width / 70))).map((step) =>
      svg("text", { x: x(step), y: HEIGHT - MARGIN.bottom + 14, "text-anchor": "middle" }, String(step)),
    );
    const up = ticks(highest, 5).flatMap((value) => [
      svg("line", { class: "gridline", x1: MARGIN.left, x2: width - MARGIN.right, y1: y(value), y2: y(value) }),
      svg("text", { x: MARGIN.left - 6, y: y(value) + 4, "text-anchor": "end" }, String(value)),
    ]);
    const title = svg(
      "text",
      { x: (MARGIN.left + width - MARGIN.right) / 2, y: HEIGHT - 4, "text-anchor": "middle" },
      "moves made",
    );
    const middle = (HEIGHT - MARGIN.bottom + MARGIN.top) / 2;
    const side = svg(
      "text",
      { x: 10, y: middle, "text-anchor": "middle", transform: `rotate(-90 10 ${middle})` },
      "cost-to-go",
    );
    return [...up, ...across, title, side];
  }

  function mark(step) {
    current = step;
    if (!scale) return;
    cursor.setAttribute("x1", scale.x(step));
    cursor.setAttribute("x2", scale.x(step));
  }

  canvas.addEventListener("click", (event) => {
    const box = canvas.getBoundingClientRect();
    const share = (event.clientX - box.left - scale.x(0)) / (scale.x(Math.max(1, steps)) - scale.x(0));
    seek(Math.max(0, Math.min(steps, Math.round(share * steps))));
  });
  const element = html("div", { class: "chart-frame" }, legend, canvas);
  const observer = new ResizeObserver(([entry]) => {
    const width = Math.floor(entry.contentRect.width);
    if (width > 0 && width !== scale?.width) draw(width);
  });
  observer.observe(element);
  return { element, mark, remove: () => observer.disconnect() };
}

const isKnown = (value) => value !== null && value !== undefined;

function lines({ className, values }, x, y) {
  let path = "";
  values.forEach((value, step) => {
    if (!isKnown(value)) return;
    path += `${isKnown(values[step - 1]) ? "L" : "M"}${x(step).toFixed(1)} ${y(value).toFixed(1)}`;
  });
  const line = svg("path", { class: `line ${className}`, d: path });
  if (className === "left" || values.length > MOST_MARKS) return [line];
  return [line, ...values.flatMap((value, step) => (isKnown(value) ? [symbol(className, x(step), y(value))] : []))];
}

function symbol(className, x, y) {
  if (className === "exact")
    return svg("rect", { class: `mark ${className}`, x: x - 3, y: y - 3, width: 6, height: 6 });
  return svg("circle", { class: `mark ${className}`, cx: x, cy: y, r: 3 });
}

function legendEntry({ name, className }) {
  const drawing = svg("svg", { width: 28, height: 10 }, svg("path", { class: `line ${className}`, d: "M0 5H28" }));
  if (className !== "left") drawing.append(symbol(className, 14, 5));
  return html("span", {}, drawing, ` ${name}`);
}

/** Round numbers from 0 up to a value, about as many as wanted. */
function ticks(highest, wanted) {
  const rough = highest / wanted;
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  return Array.from({ length: Math.floor(highest / step) + 1 }, (_, index) => index * step);
}

function describe(network, exact, steps) {
  const of = (values, name) =>
    isKnown(values[0])
      ? ` The ${name} cost-to-go starts at ${values[0].toFixed(1)} and ends at ${values.at(-1)?.toFixed(1)}.`
      : "";
  return `Chart along the ${steps} moves of the solution.${of(network, "network's")}${of(exact, "exact")}`;
}
