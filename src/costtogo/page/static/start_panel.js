// The board with the state to be solved: moves by hand, scrambles, states entered as text or on the board.

import * as api from "./api.js";
import { createBoard, hasActionButtons } from "./boards/boards.js";
import { html } from "./dom.js";
import { costSentence } from "./numbers.js";

const VALUES_DELAY = 150; // ms without a further move before the network is asked
const FORMATS = {
  cube: "(facelets: the faces in any order, such as URFDLB or LUFDRB, and any six letters)",
  sliding: "(tiles row by row, 0 for the blank)",
  lights: "(rows of 0 and 1)",
  hanoi: "(the peg of each disk, the smallest first)",
  sokoban: "(# wall, @ player, $ box, . target, * and + on a target; one level or a collection)",
};

const get = (id) => document.getElementById(id);

export class StartPanel {
  #game;
  #refuse;
  #model;
  #beforeEdit;
  #board = null;
  #asked = 0;
  #text = ""; // the last text of a state that was read: its levels can be chosen

  /**
   * model(): the name of the network whose cost-to-go is shown, or null. beforeEdit() is called when editing begins.
   * refuse(sentence) shows a sentence; "" takes it away.
   */
  constructor(game, { model, beforeEdit, refuse }) {
    this.#game = game;
    this.#model = model;
    this.#beforeEdit = beforeEdit;
    this.#refuse = refuse;
    game.addEventListener("show", ({ detail }) => {
      this.#board.show(game.shown.cells, { ...detail, colours: game.shown.colours });
    });
    game.addEventListener("start", () => this.#started());
    get("undo").addEventListener("click", () => game.undo());
    get("solved-state").addEventListener("click", () => game.enter({ state: game.puzzle.goal_text }));
    get("customary-start").addEventListener("click", () => game.enter({ state: game.puzzle.start_text }));
    this.#listenToEditing();
    this.#listenToForms();
  }

  /** Takes a puzzle; the game opens it afterwards. */
  open(puzzle) {
    const act = (action) => {
      this.#refuse("");
      return this.#game.act(action);
    };
    this.#board = createBoard(puzzle, act);
    get("board").replaceChildren(this.#board.element);
    get("actions").hidden = !hasActionButtons(puzzle);
    const button = (name) => html("button", { type: "button", on: { click: () => act(name) } }, name);
    get("actions").replaceChildren(...(hasActionButtons(puzzle) ? puzzle.actions.map(button) : []));
    get("state-format").textContent = FORMATS[puzzle.kind] ?? "";
    get("file").hidden = puzzle.kind !== "sokoban";
    get("level").hidden = true;
    get("read-as").textContent = "";
    get("scrambled").textContent = get("moves-text").value = "";
    const generates = puzzle.kind === "sokoban"; // levels, instead of walks from the goal
    get("scramble").reset();
    document.querySelector("#scramble .random-walk").hidden = generates;
    get("scramble-button").textContent = generates ? "Generate a level" : "Scramble";
    get("solved-state").textContent = generates ? "Solved example" : "Solved state";
    get("customary-start").hidden = puzzle.start_text === null;
    this.#edit(false);
  }

  /** Shows what is known of the state on the board. */
  read(network, exact) {
    this.#asked += 1;
    get("here").textContent = costSentence(network, exact);
  }

  /** Asks for the cost-to-go of the state to be solved. */
  async value() {
    const number = ++this.#asked;
    const { puzzle, start } = this.#game;
    get("here").textContent = ""; // what stood there belongs to another state or network
    await new Promise((resolve) => setTimeout(resolve, VALUES_DELAY));
    if (number !== this.#asked || !start.state) return;
    const answer = await api
      .values({ puzzle: puzzle.name, model: this.#model(), states: [start.state] })
      .catch(() => ({}));
    if (number !== this.#asked) return;
    const sentence = costSentence(answer.cost_to_go?.[0], answer.exact?.[0]);
    get("here").textContent = start.solved ? `Solved. ${sentence}` : sentence;
  }

  #started() {
    get("undo").disabled = !this.#game.canUndo;
    get("state-text").value = this.#game.start.state.replaceAll("|", "\n");
    this.value();
  }

  #edit(on) {
    if (on) {
      this.#beforeEdit();
      this.#game.step(this.#game.start);
    }
    this.#board.edit(on);
    get("edit").setAttribute("aria-pressed", String(on));
    get("editing").hidden = !on;
    get("actions").classList.toggle("off", on);
  }

  #listenToEditing() {
    get("edit").addEventListener("click", () => this.#edit(get("editing").hidden));
    get("drop-draft").addEventListener("click", () => {
      this.#edit(false);
      get("edit").focus();
    });
    get("use-draft").addEventListener("click", async () => {
      const cells = this.#board.draft();
      this.#refuse("");
      if (!(await this.#game.enter({ cells }))) return;
      this.#edit(false);
      get("edit").focus();
    });
  }

  /** Goes to the state of a text, of several levels to one of them, and says what was understood. */
  async #read(text, level = 0) {
    this.#refuse("", get("enter-state"));
    if (!(await this.#game.enter({ state: text, level }))) return;
    const { levels, read_as } = this.#game.start;
    this.#text = text;
    get("level").hidden = !levels.length;
    get("level-number").replaceChildren(
      ...levels.map((name, value) => html("option", { value, selected: value === level }, name)),
    );
    get("read-as").textContent = this.#game.puzzle.one_goal ? `Read as ${read_as}` : "";
  }

  #listenToForms() {
    const submit = (id, action) =>
      get(id).addEventListener("submit", (event) => {
        event.preventDefault();
        this.#refuse("", event.target);
        this.#edit(false);
        action(event.target);
      });
    submit("scramble", async ({ elements }) => {
      const made = await this.#game.scramble(number(elements.moves), number(elements.seed));
      if (made) get("scrambled").textContent = `Seed ${made.seed}${made.moves ? `: ${made.moves}` : ""}`;
    });
    submit("enter-state", () => this.#read(get("state-text").value));
    get("level-number").addEventListener("change", () => this.#read(this.#text, Number(get("level-number").value)));
    get("state-file").addEventListener("change", async ({ target }) => {
      if (target.files.length) this.#read(await target.files[0].text());
      target.value = ""; // the same file can be opened again
    });
    get("moves-text").addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey) return;
      event.preventDefault();
      get("enter-moves").requestSubmit();
    });
    submit("enter-moves", () => this.#game.enter({ from: this.#game.shown.state, moves: get("moves-text").value }));
  }
}

const number = (input) => (input.value === "" ? undefined : Number(input.value));
