// The server's JSON interface: one function per route. A refusal becomes an Error with the server's sentence.

export const FINAL = ["solved", "unsolved", "cancelled", "failed"];

const UNREACHABLE = "The server does not answer; see whether costtogo serve still runs.";

export const puzzles = () => call("GET", "/api/puzzles");
export const scramble = (request) => call("POST", "/api/scramble", request);
export const state = (request) => call("POST", "/api/state", request);
export const values = (request) => call("POST", "/api/values", request);
export const startSearch = (request) => call("POST", "/api/searches", request);
export const cancelSearch = (id) => call("DELETE", `/api/searches/${id}`);

/** Calls update with each report of a search, up to one with a final status. Returns a function that stops that. */
export function followSearch(id, update) {
  const source = new EventSource(`/api/searches/${id}/events`);
  const close = () => source.close();
  source.onmessage = ({ data }) => {
    const report = JSON.parse(data);
    if (FINAL.includes(report.status)) close();
    update(report);
  };
  source.onerror = async () => {
    close(); // a second connection would only repeat what a GET says
    try {
      const report = await call("GET", `/api/searches/${id}`);
      const ended = FINAL.includes(report.status);
      update(ended ? report : { ...report, status: "failed", told: "The connection to the search was lost." });
    } catch (error) {
      update({ id, status: "failed", told: error.message });
    }
  };
  return close;
}

async function call(method, path, body) {
  const request = { method };
  if (body !== undefined) {
    request.headers = { "Content-Type": "application/json" };
    request.body = JSON.stringify(body);
  }
  const response = await fetch(path, request).catch(() => {
    throw new Error(UNREACHABLE);
  });
  const text = await response.text();
  const answer = text ? readJson(text) : {};
  if (!response.ok) throw new Error(answer.error ?? `The server refused with status ${response.status}.`);
  return answer;
}

function readJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
