// The page: puts puzzle, board, searches and link together.

import * as api from "./api.js";
import { Comparison } from "./compare.js";
import { setOptions } from "./dom.js";
import { Game } from "./game.js";
import { showHelp } from "./help.js";
import * as link from "./link.js";
import { NO_MODEL, SearchPane } from "./search_pane.js";
import { StartPanel } from "./start_panel.js";

const get = (id) => document.getElementById(id);

class Page {
  #puzzles = new Map();
  #puzzle = null;
  #view = "solve";
  #ready = false; // false while a link is being restored: it is not written then, and no control works
  #game = new Game();
  #start = new StartPanel(this.#game, {
    model: () => this.#mainPane.model,
    beforeEdit: () => this.#pane.player.pause(),
    refuse,
  });
  #pane = new SearchPane(get("solve-pane"), "Search", { show: (shown, move) => this.#play(shown, move) });
  #comparison = new Comparison(this.#game, () => this.#choiceChanged());

  async open() {
    this.#listen();
    const { puzzles, most_seconds: mostSeconds, most_scrambled: mostScrambled } = await api.puzzles();
    for (const input of document.querySelectorAll(".seconds")) input.max = mostSeconds;
    document.querySelector("#scramble [name=moves]").max = mostScrambled;
    this.#puzzles = new Map(puzzles.map((puzzle) => [puzzle.name, puzzle]));
    setOptions(
      get("puzzle"),
      puzzles.map(({ name, title }) => [name, title]),
    );
    get("loading").hidden = true;
    await this.#restore();
  }

  get #mainPane() {
    return this.#view === "compare" ? this.#comparison.panes[0] : this.#pane;
  }

  #listen() {
    get("puzzle").addEventListener("change", () => this.#openPuzzle(get("puzzle").value, {}));
    get("view-solve").addEventListener("click", () => this.#show("solve"));
    get("view-compare").addEventListener("click", () => this.#show("compare"));
    get("copy-link").addEventListener("click", () => this.#copyLink());
    get("open-help").addEventListener("click", () => showHelp(this.#puzzle));
    addEventListener("hashchange", () => this.#restore());
    addEventListener("keydown", (event) => {
      if (event.key === "?" && this.#ready && !event.target.matches("input, textarea, select")) showHelp(this.#puzzle);
    });
    get("start").addEventListener("keydown", (event) => {
      if (this.#view === "solve" && !event.target.matches("input, textarea")) this.#pane.player.key(event);
    });
    this.#game.addEventListener("refuse", ({ detail }) => refuse(detail));
    this.#game.addEventListener("start", () => this.#startChanged());
    this.#pane.addEventListener("choice", () => this.#choiceChanged());
    this.#pane.addEventListener("search", async () => {
      refuse("");
      const start = await this.#game.settled();
      this.#game.step(start);
      this.#pane.start(start);
    });
  }

  /** Shows what the address's fragment says. */
  async #restore() {
    const wanted = link.read();
    const [first] = this.#puzzles.keys();
    const known = this.#puzzles.has(wanted.puzzle);
    this.#show(wanted.view === "compare" ? "compare" : "solve");
    await this.#openPuzzle(known ? wanted.puzzle : first, known ? wanted : {});
    if (wanted.puzzle && !known) refuse("The link names a puzzle that is not there.");
  }

  async #openPuzzle(name, wanted) {
    this.#setReady(false);
    refuse("");
    this.#puzzle = this.#puzzles.get(name);
    get("puzzle").value = name;
    document.title = `${this.#puzzle.title} – costtogo`;
    this.#start.open(this.#puzzle);
    const missing = [...this.#pane.open(this.#puzzle, wanted), ...this.#comparison.open(this.#puzzle, wanted)];
    await this.#game.open(this.#puzzle, wanted.state);
    if (this.#puzzle.name !== name) return; // another one was chosen meanwhile
    if (missing.length) refuse(missing[0]);
    this.#setReady(true);
    this.#writeLink();
  }

  #setReady(ready) {
    this.#ready = ready;
    get("page").inert = !ready;
    if (ready) get("bar").inert = false; // for good: the focus may be on the choice of a puzzle
  }

  #show(view) {
    this.#view = view;
    this.#pane.player.pause();
    if (this.#ready) this.#game.step(this.#game.start); // a comparison begins where the searches do
    get("page").dataset.view = view;
    get("solve").hidden = view !== "solve";
    get("compare").hidden = view !== "compare";
    for (const name of ["solve", "compare"]) get(`view-${name}`).setAttribute("aria-pressed", String(name === view));
    if (this.#ready) this.#start.value();
    this.#writeLink();
  }

  /** A search belongs to the state it starts from: another start ends it and takes its solution away. */
  #startChanged() {
    this.#pane.clear();
    this.#comparison.clear();
    this.#writeLink();
  }

  #choiceChanged() {
    this.#start.value();
    this.#writeLink();
  }

  #play(shown, move) {
    const { report, player } = this.#pane;
    this.#game.step(shown, move);
    this.#start.read(report.solution.cost_to_go?.[player.step], report.solution.exact?.[player.step]);
  }

  #writeLink() {
    if (!this.#ready) return;
    const [a, b] = this.#comparison.panes;
    const compares = this.#view === "compare";
    const pane = compares ? a : this.#pane;
    link.write({
      view: compares ? "compare" : "",
      puzzle: this.#puzzle.name,
      state: this.#game.start.state,
      model: pane.model ?? NO_MODEL,
      solver: pane.solver,
      model2: compares ? (b.model ?? NO_MODEL) : "",
      solver2: compares ? b.solver : "",
      seconds: String(compares ? this.#comparison.seconds : pane.seconds),
    });
  }

  async #copyLink() {
    this.#writeLink();
    const button = get("copy-link");
    try {
      await navigator.clipboard.writeText(location.href);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Copy it from the address bar";
    }
    setTimeout(() => {
      button.textContent = "Copy link";
    }, 2000);
  }
}

/** Shows a sentence about what was refused; "" takes it away. The next one stands in `form`, or above all. */
function refuse(sentence, form = null) {
  if (form) form.append(get("notice"));
  else if (!sentence) get("loading").after(get("notice"));
  get("notice").textContent = sentence;
  get("notice").hidden = sentence === "";
}

new Page().open().catch((error) => {
  get("loading").hidden = true;
  refuse(error.message);
});
