// api.js - asks the server. The key is kept for this tab only, and a refusal says what to do about it.

const KEY = "vial.key";
const LINE_CHARS_MAX = 256 * 1024 * 1024; // a result: the largest value and its output

export class Problem extends Error {
  constructor(status, body) {
    super(body?.detail ?? body?.title ?? `the server answered ${status}`);
    this.status = status;
    this.code = body?.code ?? null;
    this.faults = Array.isArray(body?.errors) ? body.errors : [];
  }
}

let onRefused = () => {};

export const whenRefused = fn => { onRefused = fn; };
export const key = () => sessionStorage.getItem(KEY);

export function setKey(text) {
  if (text) {
    sessionStorage.setItem(KEY, text);
  } else {
    sessionStorage.removeItem(KEY);
  }
}

async function problemOf(response) {
  let body = null;
  try {
    body = await response.json();
  } catch {
    // not one of ours; the status says enough
  }
  return new Problem(response.status, body);
}

async function ask(method, path, body, accept, signal) {
  const headers = { Accept: accept }, used = key();
  if (used) {
    headers.Authorization = `Bearer ${used}`;
  }
  if (body !== undefined) {
    headers["Content-Type"] = "application/json";
  }
  let response;
  try {
    response = await fetch(path, {
      method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body),
      credentials: "omit", cache: "no-store", redirect: "error", referrerPolicy: "no-referrer",
    });
  } catch (error) {
    throw error.name === "AbortError" ? error : new Problem(0, { detail: "the server cannot be reached" });
  }
  if (!response.ok) {
    const problem = await problemOf(response);
    if (response.status === 401) {
      onRefused(problem, used);
    }
    throw problem;
  }
  return response;
}

export async function get(path) {
  return (await ask("GET", path, undefined, "application/json")).json();
}

export async function getText(path) {
  return (await ask("GET", path, undefined, "text/plain")).text();
}

// Bytes of a guest, to be saved and not looked at.
export async function getBlob(path) {
  return (await ask("GET", path, undefined, "*/*")).blob();
}

export async function send(method, path, body) {
  const response = await ask(method, path, body, "application/json");
  return response.status === 204 ? null : response.json();
}

// The events of a run, one object after the other, as they come.
export async function* events(path, body, signal, onId) {
  const response = await ask("POST", path, body, "application/x-ndjson", signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let parts = [], length = 0;

  onId(response.headers.get("Vial-Run-Id"));
  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      break;
    }
    let rest = value, end;
    while ((end = rest.indexOf("\n")) >= 0) {
      const line = parts.join("") + rest.slice(0, end);
      parts = [];
      length = 0;
      rest = rest.slice(end + 1);
      if (line.trim() !== "") {
        yield JSON.parse(line);
      }
    }
    parts.push(rest);
    length += rest.length;
    if (length > LINE_CHARS_MAX) {
      await reader.cancel();
      throw new Problem(0, { detail: "the result is too large for this page; the API has all of it" });
    }
  }
}
