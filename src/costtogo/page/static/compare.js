// Two searches on one state, at once and side by side, and a table of what each came to.

import { html } from "./dom.js";
import { searchRows } from "./numbers.js";
import { SearchPane } from "./search_pane.js";

export class Comparison {
  panes;
  #get = (id) => document.getElementById(id);

  /** game: whose start both search from. changed() is called when a choice has changed. */
  constructor(game, changed) {
    this.panes = ["a", "b"].map((side) => new SearchPane(this.#get(`pane-${side}`), `Search ${side.toUpperCase()}`));
    for (const pane of this.panes) {
      pane.addEventListener("choice", changed);
      pane.addEventListener("report", () => this.#update());
    }
    this.#get("compare-seconds").addEventListener("change", changed);
    this.#get("search-both").addEventListener("click", async () => {
      const start = await game.settled();
      for (const pane of this.panes) pane.start(start, this.seconds);
      this.#update();
    });
    this.#get("cancel-both").addEventListener("click", () => this.panes.forEach((pane) => pane.cancel()));
    this.#get("play-both").addEventListener("click", () => this.#playBoth());
  }

  get seconds() {
    return Number(this.#get("compare-seconds").value);
  }

  /** Offers a puzzle's networks and solvers; wanted: what a link says. Returns what was not there. */
  open(puzzle, { model, solver, model2, solver2, seconds } = {}) {
    if (seconds > 0) this.#get("compare-seconds").value = seconds;
    const missing = this.panes[0].open(puzzle, { model, solver });
    missing.push(...this.panes[1].open(puzzle, { model: model2 ?? model, solver: solver2 }));
    if (solver2 === undefined) this.panes[1].preferSolver(1);
    this.#update();
    return missing;
  }

  clear() {
    this.panes.forEach((pane) => pane.clear());
    this.#update();
  }

  #playBoth() {
    const open = this.panes.map(({ player }) => player).filter((player) => player.isOpen);
    const playing = open.some((player) => player.isPlaying);
    for (const player of open) {
      if (playing) player.pause();
      else player.play();
    }
  }

  #update() {
    const running = this.panes.some((pane) => pane.isRunning);
    this.#get("search-both").disabled = running || this.panes.some((pane) => !pane.solver);
    this.#get("cancel-both").disabled = !running;
    this.#get("play-both").disabled = !this.panes.some(({ player }) => player.isOpen);
    const table = this.#get("comparison");
    table.hidden = !this.panes.every(({ report }) => report?.nodes_expanded !== undefined);
    if (!table.hidden) table.replaceChildren(this.#table());
  }

  #table() {
    const [a, b] = this.panes.map(({ report }) => searchRows(report));
    const head = this.panes.map((pane) =>
      html("th", { scope: "col" }, [pane.model, pane.solver].filter(Boolean).join(", ")),
    );
    const rows = a.map(([name, text], row) =>
      html("tr", {}, html("th", { scope: "row" }, name), html("td", {}, text), html("td", {}, b[row][1])),
    );
    return html("table", {}, html("thead", {}, html("tr", {}, html("td", {}), ...head)), html("tbody", {}, ...rows));
  }
}
