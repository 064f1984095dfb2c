// Plays a solution: buttons, slider, speed, keys; at every step the network's cost-to-go and the exact one.

import { createChart } from "./chart.js";
import { costSentence } from "./numbers.js";
import { setOptions } from "./dom.js";

const MOVE_TIME = 600; // ms of a move at speed 1
const ICONS = { Play: "M4 3v10l9-5z", Pause: "M4 3h3v10H4zM9 3h3v10H9z" }; // paths of 16 × 16
const SPEEDS = ["0.5", "1", "2", "4", "8", "32"];

export const keys = [
  [". and ,", "one move of the solution on and back"],
  ["P", "play or pause the solution"],
];

/** part: the elements of the page's pane by name. show({cells, state}, {action, undone, time}) draws a state. */
export class Player {
  step = 0;
  #part;
  #show;
  #solution = null;
  #chart = null;
  #timer = 0;

  constructor(part, show) {
    this.#part = part;
    this.#show = show;
    setOptions(
      part.speed,
      SPEEDS.map((speed) => [speed, `${speed}×`]),
    );
    part.speed.value = "1";
    part.first.addEventListener("click", () => this.seek(0));
    part.back.addEventListener("click", () => this.seek(this.step - 1));
    part.next.addEventListener("click", () => this.seek(this.step + 1));
    part.last.addEventListener("click", () => this.seek(Infinity));
    part.play.addEventListener("click", () => this.toggle());
    part.slider.addEventListener("input", () => this.seek(Number(part.slider.value)));
  }

  /** Takes a solution as the server gives it. */
  open(solution) {
    this.close();
    this.#solution = solution;
    const count = solution.moves.length;
    const left = solution.states.map((_, step) => count - step);
    const known = (values) => left.map((_, step) => values?.[step] ?? null);
    this.#chart = createChart({ network: known(solution.cost_to_go), exact: known(solution.exact), left }, (step) =>
      this.seek(step),
    );
    this.#part.chart.replaceChildren(this.#chart.element);
    this.#part.text.textContent = solution.text;
    this.#part.slider.max = count;
    this.#part.player.hidden = false;
    this.step = 0;
    this.#read();
  }

  close() {
    this.pause();
    this.#chart?.remove();
    this.#chart = null;
    this.#solution = null;
    this.#part.player.hidden = true;
  }

  get isOpen() {
    return this.#solution !== null;
  }

  get isPlaying() {
    return this.#timer !== 0;
  }

  /** Goes to a step, clipped to those there are, and stops playing. */
  seek(step) {
    this.pause();
    this.#go(step);
  }

  toggle() {
    if (this.isPlaying) this.pause();
    else this.play();
  }

  play() {
    if (!this.#solution) return;
    if (this.step === this.#solution.moves.length) this.#go(0);
    this.#label("Pause");
    this.#part.reading.setAttribute("aria-live", "off"); // it would be read out at every move
    const advance = () => {
      this.#go(this.step + 1);
      if (this.step < this.#solution.moves.length) this.#timer = setTimeout(advance, this.#moveTime());
      else this.pause();
    };
    this.#timer = setTimeout(advance, this.#moveTime() / 2);
  }

  pause() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#label("Play");
    this.#part.reading.setAttribute("aria-live", "polite");
  }

  /** Handles a key of the player; true if it was one. */
  key(event) {
    if (!this.#solution || event.ctrlKey || event.metaKey || event.altKey) return false;
    if (event.key === ".") this.seek(this.step + 1);
    else if (event.key === ",") this.seek(this.step - 1);
    else if (event.key === "p" || event.key === "P") this.toggle();
    else return false;
    event.preventDefault();
    return true;
  }

  #go(wanted) {
    const { moves, states, state_texts: texts } = this.#solution;
    const step = Math.max(0, Math.min(moves.length, wanted));
    const before = this.step;
    this.step = step;
    this.#read();
    const move = { action: null, undone: false, time: Math.min(300, this.#moveTime() * 0.8) };
    if (step === before + 1) move.action = moves[before];
    if (step === before - 1) Object.assign(move, { action: moves[step], undone: true });
    this.#show({ cells: states[step], state: texts[step] }, move);
  }

  #read() {
    const { moves, cost_to_go: network, exact } = this.#solution;
    const { slider, reading } = this.#part;
    const made = this.step
      ? `Move ${this.step} of ${moves.length}, ${moves[this.step - 1]}.`
      : `Start, ${moves.length} moves to go.`;
    reading.textContent = `${made} ${costSentence(network?.[this.step], exact?.[this.step])}`;
    slider.value = this.step;
    slider.setAttribute("aria-valuetext", reading.textContent);
    this.#chart.mark(this.step);
  }

  #moveTime() {
    return MOVE_TIME / Number(this.#part.speed.value);
  }

  #label(name) {
    this.#part.playText.textContent = name;
    this.#part.playIcon.setAttribute("d", ICONS[name]);
  }
}
