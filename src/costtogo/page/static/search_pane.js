// One search: network, solver and time to choose, its progress, and its solution to play.

import * as api from "./api.js";
import { createBoard } from "./boards/boards.js";
import { html, parts, setOptions } from "./dom.js";
import { searchRows } from "./numbers.js";
import { Player } from "./player.js";

export const NO_MODEL = "none"; // in the list of networks, and in links

/**
 * Events: "choice" when network, solver or seconds change, "report" whenever there is news of the search.
 * show({cells, state}, move): draws a state of the solution; without it the pane has a board of its own.
 */
export class SearchPane extends EventTarget {
  report = null; // the newest of the search, as the server gives it
  player;
  #part;
  #puzzle = null;
  #board = null;
  #colours; // of the state that is searched from, as the cube is held
  #hasOwnBoard;
  #request = null; // the newest that was sent
  #id = null;
  #running = false;
  #unfollow = () => {};

  constructor(root, heading, { show = null } = {}) {
    super();
    root.append(document.getElementById("pane").content.cloneNode(true));
    this.#part = parts(root);
    const { heading: title, form, model, solver, seconds, cancel, prove, secondsLabel, search } = this.#part;
    title.textContent = heading;
    root.firstElementChild.setAttribute("aria-label", heading);
    const onOwnBoard = (shown, move) => this.#board.show(shown.cells, { ...move, colours: this.#colours });
    this.player = new Player(this.#part, show ?? onOwnBoard);
    this.#hasOwnBoard = show === null;
    secondsLabel.hidden = search.hidden = cancel.hidden = this.#hasOwnBoard;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.dispatchEvent(new Event("search"));
    });
    cancel.addEventListener("click", () => this.cancel());
    prove.addEventListener("click", () => this.#prove());
    model.addEventListener("change", () => this.#chosen());
    solver.addEventListener("change", () => this.#chosen());
    seconds.addEventListener("change", () => this.#chosen());
    root.addEventListener("keydown", (event) => {
      if (!event.target.matches("input:not([type=range]), select, textarea")) this.player.key(event);
    });
  }

  get model() {
    const { value } = this.#part.model;
    return value === NO_MODEL ? null : value;
  }

  get solver() {
    return this.#part.solver.value;
  }

  get seconds() {
    return Number(this.#part.seconds.value);
  }

  get isRunning() {
    return this.#running;
  }

  /** Offers a puzzle's networks and solvers; wanted: {model, solver, seconds} of a link. Returns what was not there. */
  open(puzzle, wanted = {}) {
    this.clear();
    this.#puzzle = puzzle;
    const { model, solver, seconds, board } = this.#part;
    model.replaceChildren();
    solver.replaceChildren();
    const names = puzzle.models.map(({ name, origin }) => [
      name,
      origin === "packaged" ? name : `${name} (your study)`,
    ]);
    setOptions(model, [...names, [NO_MODEL, NO_MODEL]]);
    const missing = [];
    if (wanted.model !== undefined) missing.push(...choose(model, wanted.model, "network"));
    this.#offerSolvers();
    if (wanted.solver !== undefined) missing.push(...choose(solver, wanted.solver, "solver"));
    if (wanted.seconds > 0) seconds.value = wanted.seconds;
    if (this.#hasOwnBoard) {
      this.#board = createBoard(puzzle, null);
      board.replaceChildren(this.#board.element);
    }
    this.#tell();
    return missing;
  }

  /** Chooses the solver at a place of the list, where that can be used without a network or there is one. */
  preferSolver(place) {
    const usable = Array.from(this.#part.solver.options).filter((option) => !option.disabled);
    if (usable[place]) this.#part.solver.value = usable[place].value;
    this.#tell();
  }

  /** Searches from a state of the server's, {cells, state}. */
  async start(from, seconds = this.seconds) {
    this.clear();
    this.#colours = from.colours;
    this.#board?.show(from.cells, { colours: from.colours });
    await this.#ask({ puzzle: this.#puzzle.name, model: this.model, solver: this.solver, state: from.state, seconds });
  }

  /** Searches for a shorter solution than the one shown, which stays until there is an answer. */
  async #prove() {
    this.player.pause();
    await this.#ask({ ...this.#request, seconds: this.seconds, known: this.report.solution.text });
  }

  async #ask(request) {
    this.#request = request;
    this.#id = null;
    this.#running = true;
    this.#say("Starting …");
    this.#part.bar.max = request.seconds;
    this.#buttons();
    try {
      const answer = await api.startSearch(request);
      if (!this.#running) {
        api.cancelSearch(answer.id); // cancelled before the server had given it a number
        return;
      }
      this.#id = answer.id;
      this.#unfollow = api.followSearch(answer.id, (report) => this.#news(report));
    } catch (error) {
      this.#news({ status: "failed", told: error.message });
    }
  }

  /** Cancels the search; the server's last report says that it has ended. */
  async cancel() {
    if (!this.#running) return;
    if (this.#id === null) {
      this.#news({ status: "cancelled", told: "The search was cancelled." });
      return;
    }
    this.#say("Cancelling …");
    await api.cancelSearch(this.#id).catch((error) => this.#say(error.message));
  }

  /** Ends a running search and takes away what is shown of the last one. */
  clear() {
    this.#unfollow();
    if (this.#running && this.#id !== null) api.cancelSearch(this.#id).catch(() => {});
    this.#id = null;
    this.#running = false;
    this.report = null;
    this.player.close();
    this.#part.numbers.hidden = this.#part.bar.hidden = true;
    this.#part.status.textContent = "";
    this.#buttons();
  }

  #news(report) {
    const found = report.solution;
    if (!found && this.#request.known) report = { ...report, solution: this.report.solution };
    this.report = report;
    this.#running = !api.FINAL.includes(report.status);
    this.#part.bar.hidden = !this.#running;
    this.#part.bar.value = report.seconds ?? 0;
    this.#showNumbers(report);
    if (report.status === "queued") this.#say(`Waiting for a free worker; place in the queue: ${report.position}.`);
    else this.#say(report.told);
    if (found) {
      this.#board?.show(found.states[0], { colours: this.#colours });
      this.player.open(found);
    }
    this.#buttons();
    this.dispatchEvent(new Event("report"));
  }

  #showNumbers(report) {
    const rows = report.status === "queued" || report.nodes_expanded === undefined ? [] : searchRows(report).slice(1);
    this.#part.numbers.hidden = rows.length === 0;
    this.#part.numbers.replaceChildren(
      ...rows.map(([name, text]) => html("div", {}, html("dt", {}, name), html("dd", {}, text))),
    );
  }

  /** The status is read out by screen readers: it is only written when it changes. */
  #say(sentence) {
    if (this.#part.status.textContent !== sentence) this.#part.status.textContent = sentence;
  }

  #buttons() {
    this.#part.search.disabled = this.#running || !this.solver;
    this.#part.cancel.disabled = !this.#running;
    const solution = this.#hasOwnBoard || this.#running ? null : this.report?.solution;
    this.#part.prove.hidden = !solution || solution.optimum !== null;
  }

  #chosen() {
    this.#offerSolvers();
    this.#tell();
    this.dispatchEvent(new Event("choice"));
  }

  #offerSolvers() {
    const model = this.#puzzle.models.find(({ name }) => name === this.model);
    const usable = ({ name, needs_model: needsModel }) => (model ? model.solvers.includes(name) : !needsModel);
    setOptions(
      this.#part.solver,
      this.#puzzle.solvers.map((solver) => [solver.name, solver.name, !usable(solver)]),
    );
    this.#buttons();
  }

  #tell() {
    const named = (list, name) => list.find((entry) => entry.name === name)?.told ?? "";
    const lines = [];
    if (this.#puzzle.models.length === 0) lines.push("There is no trained network of this puzzle.");
    if (this.model) lines.push(`Network: ${named(this.#puzzle.models, this.model)}`);
    if (this.solver) lines.push(`Solver: ${named(this.#puzzle.solvers, this.solver)}`);
    this.#part.told.replaceChildren(...lines.map((line) => html("span", {}, line)));
  }
}

/** Chooses a value of a select; a sentence where it is not offered. */
function choose(select, value, noun) {
  const option = Array.from(select.options).find((each) => each.value === value && !each.disabled);
  if (!option) return [`The link's ${noun} is not there; another one was chosen.`];
  select.value = value;
  return [];
}
