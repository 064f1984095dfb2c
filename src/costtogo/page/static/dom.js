// Builds HTML and SVG elements. Text goes in as text nodes, never as markup.

const SVG = "http://www.w3.org/2000/svg";

/** html("button", {class: "main", disabled: true, on: {click: undo}}, "Undo"); false and null leave one out. */
export function html(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** The elements of a fragment or element by their data-part. */
export function parts(root) {
  const named = root.querySelectorAll("[data-part]");
  return Object.fromEntries(Array.from(named, (element) => [element.dataset.part, element]));
}

/** Puts options [value, text, disabled] into a select and keeps its value where it is still offered. */
export function setOptions(select, options) {
  const before = select.options.length ? select.value : null;
  select.replaceChildren(
    ...options.map(([value, text, disabled = false]) => html("option", { value, disabled }, text)),
  );
  const offered = options.filter(([, , disabled]) => !disabled).map(([value]) => value);
  select.value = offered.includes(before) ? before : (offered[0] ?? "");
}

export const motionIsReduced = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

function fill(element, { on = {}, ...attributes }, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false && value !== null) element.setAttribute(name, value === true ? "" : value);
  }
  for (const [event, listener] of Object.entries(on)) element.addEventListener(event, listener);
  element.append(...children);
  return element;
}
