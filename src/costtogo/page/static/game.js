// The state on the board. Moves and entries go to the server, which alone knows the rules.

import * as api from "./api.js";

const MOST_REMEMBERED = 1000;

/** An answer to moves from a state, with the colours of a cube that was held in this way before. */
function held(answer, before) {
  return before && answer.colours ? { ...answer, colours: answer.colours.map((face) => before[face]) } : answer;
}

/**
 * A state here is {cells, state, legal, solved, colours}, as /api/state answers; state is its text. colours: of a cube
 * that is held another way than white up and green in front, the colour of each face.
 * start: the state to be solved. shown: what the board shows, another one while a solution is played.
 * Events: "show" (detail {action, undone, time}) when the board changes, "start" when the state to be solved has changed
 * and the server has confirmed it, "refuse" (detail: a sentence).
 */
export class Game extends EventTarget {
  puzzle = null;
  start = null;
  shown = null;
  #known = null; // the newest state that the server has confirmed: the next move starts from it
  #past = [];
  #queue = Promise.resolve();
  #newest = 0;
  #era = 0; // requests of an earlier era are dropped

  /** Takes another puzzle, at its goal or at the state of a text; true unless the server refused the text. */
  async open(puzzle, text = puzzle.goal_text) {
    const era = ++this.#era;
    this.puzzle = puzzle;
    this.#past = [];
    this.#known = this.start = this.shown = { cells: puzzle.goal, state: puzzle.goal_text, legal: null, solved: true };
    this.#show();
    const taken = await this.enter({ state: text });
    if (era !== this.#era) return false; // another puzzle was opened meanwhile
    if (!taken) await this.enter({ state: puzzle.goal_text });
    this.#past = [];
    return taken;
  }

  /** Goes to the state of a request: {state}, {cells} or {moves, from}; true unless the server refused it. */
  enter(request) {
    const before = request.from ? this.shown.colours : null;
    return this.#ask(async () => held(await api.state({ puzzle: this.puzzle.name, ...request }), before));
  }

  /** Goes to a scramble; length and seed may be undefined. Returns {moves, seed}, or null if it was refused. */
  async scramble(length, seed) {
    let answer = null;
    const taken = await this.#ask(async () => {
      answer = await api.scramble({ puzzle: this.puzzle.name, length, seed });
      return answer;
    });
    return taken ? answer : null;
  }

  /** Makes a move by its name. Where moves permute the cells, the board shows it before the server has answered. */
  act(action) {
    const { turns, actions, name: puzzle } = this.puzzle;
    const number = actions.indexOf(action);
    const { cells, colours } = this.shown;
    const ahead = turns ? { cells: turns[number].map((cell) => cells[cell]), state: null, colours } : null;
    if (ahead) {
      this.#remember();
      this.start = this.shown = ahead;
      this.#show({ action });
    }
    const request = async () => {
      if (this.#known.legal && !this.#known.legal[number]) return null;
      return held(await api.state({ puzzle, from: this.#known.state, moves: action }), colours);
    };
    return this.#ask(request, action, ahead);
  }

  /** The state to be solved, once the server has confirmed it. */
  async settled() {
    await this.#queue;
    return this.start;
  }

  get canUndo() {
    return this.#past.length > 0;
  }

  /** Takes back the last change of the state to be solved. */
  undo() {
    this.#queue = this.#queue.then(() => {
      const before = this.#past.pop();
      if (!before) return;
      this.#known = this.start = this.shown = before;
      this.#show();
      this.dispatchEvent(new Event("start"));
    });
  }

  /** Shows a state of a solution, {cells, state}; the state to be solved stays. */
  step(shown, move = {}) {
    this.#era += 1;
    this.#known = this.shown = { legal: null, solved: null, colours: this.start.colours, ...shown };
    this.#show(move);
  }

  /** Requests run one after the other. request returns a state, or null where there is nothing to do. */
  #ask(request, action = null, ahead = null) {
    const era = this.#era;
    const number = ++this.#newest;
    const answered = this.#queue.then(async () => {
      if (era !== this.#era) return false;
      try {
        const answer = await request();
        if (!answer || era !== this.#era) return false;
        this.#accept(answer, action, ahead, number === this.#newest);
        return true;
      } catch (error) {
        if (ahead) this.#goBack();
        this.dispatchEvent(new CustomEvent("refuse", { detail: error.message }));
        return false;
      }
    });
    this.#queue = answered;
    return answered;
  }

  #accept(answer, action, ahead, isNewest) {
    this.#known = answer;
    if (ahead) {
      Object.assign(ahead, answer);
      this.#known = ahead;
    } else {
      this.#remember();
      this.start = this.shown = answer;
      this.#show({ action });
    }
    if (isNewest) this.dispatchEvent(new Event("start"));
  }

  #goBack() {
    this.#era += 1;
    this.start = this.shown = this.#known;
    this.#show();
  }

  #remember() {
    this.#past.push(this.shown);
    if (this.#past.length > MOST_REMEMBERED) this.#past.shift();
  }

  #show(move = {}) {
    this.dispatchEvent(new CustomEvent("show", { detail: move }));
  }
}
