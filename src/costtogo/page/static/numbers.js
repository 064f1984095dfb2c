// How numbers of a search and of a state are written.

const WHOLE = new Intl.NumberFormat("en");

export const whole = (value) => (value === null || value === undefined ? "–" : WHOLE.format(value));
export const seconds = (value) =>
  value === null || value === undefined ? "–" : `${value.toFixed(value < 10 ? 2 : 1)} s`;

/** "Cost-to-go: network 11.83, exact 12." with what is known of the two. */
export function costSentence(network, exact) {
  const known = [];
  if (network !== null && network !== undefined) known.push(`network ${network.toFixed(2)}`);
  if (exact !== null && exact !== undefined) known.push(`exact ${whole(exact)}`);
  return known.length ? `Cost-to-go: ${known.join(", ")}.` : "";
}

/** The rows [name, text] about a search, running or ended. */
export function searchRows(report) {
  const { solution } = report;
  const best = report.best_length === null ? "–" : `${whole(report.best_length)} so far`;
  return [
    ["Status", report.status],
    ["Length", solution ? `${whole(solution.length)} ${solution.metric}` : best],
    ["Optimal", solution ? optimality(solution) : "–"],
    ...(solution?.solver ? [["Solver", solution.why ? `${solution.solver} (${solution.why})` : solution.solver]] : []),
    ["Nodes expanded", whole(report.nodes_expanded)],
    ["Nodes generated", whole(report.nodes_generated)],
    ["Time", seconds(report.seconds)],
  ];
}

function optimality({ length, optimum, proved, lower_bound: bound, lower_bound_holds: holds }) {
  if (optimum !== null && optimum !== undefined)
    return optimum === length ? "yes" : `no, the optimum is ${whole(optimum)}`;
  if (proved) return "yes, proved";
  if (!(bound > 0)) return "unknown";
  const least = `unknown; at least ${whole(Math.ceil(bound - 1e-6))}`;
  return holds ? least : `${least} if the network never overestimates`;
}
