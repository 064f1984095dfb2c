// The address's fragment carries the view: puzzle, state, models, solvers, seconds. Setting it restores them.

const KEYS = ["view", "puzzle", "state", "model", "solver", "model2", "solver2", "seconds"];

/** What the fragment says, {key: text}; keys it lacks are absent. */
export function read() {
  const given = new URLSearchParams(location.hash.slice(1));
  return Object.fromEntries(KEYS.filter((key) => given.has(key)).map((key) => [key, given.get(key)]));
}

/** Replaces the fragment without a new entry in the history, and without a hashchange event. */
export function write(view) {
  const parameters = new URLSearchParams();
  for (const key of KEYS) if (view[key]) parameters.set(key, view[key]);
  history.replaceState(null, "", `#${parameters}`);
}
