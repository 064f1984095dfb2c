// A row of radio buttons to choose what the next click on a board paints.

import { html, svg } from "../dom.js";

let palettes = 0;

/** choices: {text, picture} each; picture: SVG elements within 1 × 1. Returns {element, value(), choose(index)}. */
export function palette(title, choices) {
  const name = `palette-${(palettes += 1)}`;
  const inputs = choices.map((_, index) => html("input", { type: "radio", name, value: index, checked: index === 0 }));
  const labels = choices.map(({ text, picture }, index) =>
    html("label", {}, inputs[index], svg("svg", { class: "swatch", viewBox: "0 0 1 1" }, ...picture), text),
  );
  const element = html("fieldset", { class: "palette" }, html("legend", {}, title), ...labels);
  return {
    element,
    value: () => inputs.findIndex((input) => input.checked),
    choose: (index) => {
      inputs[index].checked = true;
    },
  };
}
