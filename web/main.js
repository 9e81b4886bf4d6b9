// main.js - the playground: brings its parts together.

import { brief, byId, el } from "./dom.js";
import * as api from "./api.js";
import { Editor } from "./editor.js";
import { Environments } from "./environments.js";
import { EXAMPLES } from "./examples.js";
import { History } from "./history.js";
import { ResultView } from "./result.js";
import { Sessions, sessionName } from "./sessions.js";
import { Settings } from "./settings.js";

const DRAFT = "vial.draft"; // of this tab, so that a reload loses nothing
const NOTE_MS = 7000;
const NOTES_MAX = 4;

let running = null; // { id, abort, isCancelled }

// ---- notes ----

function note(text) {
  const host = byId("notes"), node = el("p", { class: "note" }, brief(text, 400));
  host.append(node);
  while (host.childElementCount > NOTES_MAX) {
    host.firstChild.remove();
  }
  setTimeout(() => node.remove(), NOTE_MS);
}

// What was not asked for, such as the list of runs when the page opens, fails quietly unless a key would help.
function onFault(error, isQuiet) {
  if (error.status === 401 || (isQuiet && (error.status === 403 || error.status === 404))) {
    return;
  }
  note(error.message);
}

// ---- the key ----

const dialog = byId("key-dialog");

// why: what was wrong with the one that was used, if there was one.
function askKey(why) {
  byId("key-why").textContent = why ? brief(why, 300) : "";
  byId("key-title").textContent = api.key() ? "The key of this tab" : "A key for this server";
  byId("key-forget").hidden = !api.key();
  if (!dialog.open) {
    byId("key-text").value = "";
    dialog.showModal();
  }
  byId("key-text").focus();
}

function tellKey() {
  const key = api.key();
  byId("key").textContent = key ? "Key ✓" : "Key";
  byId("key").title = key ? "A key is in use in this tab" : "No key is in use";
}

// A key that was refused is forgotten. One that was put in meanwhile is not, and what was asked without a key does
// not hide why the key was refused.
api.whenRefused((problem, used) => {
  if (used === api.key()) {
    api.setKey(null);
    tellKey();
  }
  if (used || !dialog.open) {
    askKey(used ? problem.message : null);
  }
});

byId("key").addEventListener("click", () => askKey(null));
byId("key-close").addEventListener("click", () => dialog.close());
byId("key-forget").addEventListener("click", () => {
  api.setKey(null);
  tellKey();
  dialog.close();
});
byId("key-form").addEventListener("submit", event => {
  event.preventDefault();
  const text = byId("key-text").value.trim();
  if (!/^[\x21-\x7e]+$/.test(text)) {
    byId("key-why").textContent = "A key is one word, such as vial_... .";
    return;
  }
  api.setKey(text);
  tellKey();
  dialog.close();
  start();
});

// ---- parts ----

const editor = new Editor(() => run());
const settings = new Settings();
const result = new ResultView(editor, onFault);
const environments = new Environments(() => keepDraft(), onFault);
const history = new History(openRun, onFault);
const sessions = new Sessions(newSession, id => history.lastIn(id), chooseSession, onFault);
const language = byId("language");

// null: there is no environment, or the key may not read it.
environments.onDocument = document => {
  if (document?.language && (document.language === "python") !== (language.value === "python")) {
    setLanguage(document.language);
  }
  settings.setUsual(document?.limits?.default ?? {});
};

function newSession() {
  const given = settings.read();
  return { language: language.value, environment: environments.name || undefined, limits: given.limits, tools: given.tools };
}

let environmentOutside = ""; // what was picked before a session was chosen

// A session has its environment; programs in it cannot have another.
function chooseSession(session) {
  const spoken = session?.language;
  if (spoken && (spoken === "python") !== (language.value === "python")) {
    setLanguage(spoken);
  }
  byId("run-word").textContent = session ? "Evaluate" : "Run";
  byId("inside").hidden = session === null;
  byId("inside").replaceChildren(...(session ? ["in session ", el("b", {}, sessionName(session))] : []));
  if (session && !environments.pick.disabled) {
    environmentOutside = environments.name;
  }
  if (session || environments.pick.disabled) {
    environments.name = session ? session.environment ?? "" : environmentOutside;
  }
  environments.pick.disabled = session !== null;
}

function setLanguage(name) {
  const isExample = Object.values(EXAMPLES).flat().some(([, code]) => code === editor.text) || editor.text.trim() === "";
  language.value = name;
  editor.setLanguage(name);
  byId("example").replaceChildren(el("option", { value: "" }, "Examples"),
    ...EXAMPLES[name].map(([title], i) => el("option", { value: i }, title)));
  if (isExample) {
    editor.text = EXAMPLES[name][0][1];
  }
}

language.addEventListener("change", () => {
  setLanguage(language.value);
  keepDraft();
});
byId("example").addEventListener("change", event => {
  const example = EXAMPLES[language.value][Number(event.target.value)];
  if (event.target.value !== "" && example) {
    editor.text = example[1];
  }
  event.target.value = "";
});

function keepDraft() {
  try {
    sessionStorage.setItem(DRAFT, JSON.stringify({ language: language.value, code: editor.text, environment: environments.name }));
  } catch {
    // no room: a reload loses it
  }
}

function loadDraft() {
  let draft = null;
  try {
    draft = JSON.parse(sessionStorage.getItem(DRAFT));
  } catch {
    // none
  }
  setLanguage(EXAMPLES[draft?.language] ? draft.language : "javascript");
  if (typeof draft?.code === "string") {
    editor.text = draft.code;
  }
  if (draft?.environment) {
    environments.name = String(draft.environment);
  }
  editor.onChange = keepDraft;
}

// ---- running ----

function setRunning(state) {
  running = state;
  byId("run").hidden = state !== null;
  byId("cancel").hidden = state === null;
  document.body.classList.toggle("is-running", state !== null);
}

function requestOf(session) {
  const given = settings.read(), body = { code: editor.text, input: given.input, limits: given.limits };
  if (session) {
    return { path: `/v1/sessions/${encodeURIComponent(session.id)}/eval`, body: { ...body, language: language.value, record_calls: true } };
  }
  return {
    path: "/v1/runs",
    body: { ...body, language: language.value, environment: environments.name || undefined, tools: given.tools, record_calls: true },
  };
}

async function run() {
  const session = sessions.current;
  let request;

  if (running !== null) {
    return;
  }
  try {
    request = requestOf(session);
  } catch {
    view("code"); // the fault stands beside the field
    return;
  }
  const state = { id: null, abort: new AbortController(), isCancelled: false };
  const about = { language: language.value, code: editor.text, environment: environments.name || null, session: session?.id ?? null };
  setRunning(state);
  result.begin();
  view("result");
  try {
    await follow(request, state, about);
  } catch (error) {
    result.fail(error instanceof api.Problem ? error : new api.Problem(0, {
      detail: error.name === "AbortError" ? "the run was given up" : "the connection ended before the run did",
    }));
  }
  setRunning(null);
  history.refresh();
  if (session) {
    sessions.refresh();
  }
}

async function follow(request, state, about) {
  let last = null, hasEnded = false;
  const takeId = id => {
    state.id = id;
    if (state.isCancelled) {
      cancel();
    }
  };

  for await (const event of api.events(request.path, request.body, state.abort.signal, takeId)) {
    if (event.type === "start") {
      state.id = event.run?.id ?? state.id;
    } else if (event.type === "result") {
      last = event.result;
    }
    hasEnded = hasEnded || event.type === "end";
    result.event(event, state.id);
  }
  if (last === null) {
    throw new api.Problem(0, { detail: hasEnded ? "the run ended without a result" : "the connection ended before the run did" });
  }
  history.keep({
    ...about, id: last.id ?? state.id, status: last.status, created_at: last.created_at ?? new Date().toISOString(),
    environment: last.environment ?? about.environment, wall_us: last.usage?.wall_us ?? 0,
  });
  result.show(last, history.times(), false);
}

async function cancel() {
  const state = running;
  if (state === null) {
    return;
  }
  state.isCancelled = true;
  if (state.id === null) {
    return; // as soon as the server has said which run it is
  }
  try {
    await api.send("POST", `/v1/runs/${encodeURIComponent(state.id)}/cancel`, {});
  } catch (error) {
    if (error.status !== 410 && running === state) {
      state.abort.abort(); // a client that goes away cancels its run
    }
  }
}

function openRun(run, stored) {
  if (running !== null) {
    note("a run goes on; cancel it first");
    return;
  }
  if (run.code) {
    setLanguage(EXAMPLES[run.language] ? run.language : "javascript");
    editor.text = run.code;
  }
  if (stored !== null) {
    result.begin();
    result.show(stored, history.times(), true);
    view("result");
  }
}

byId("run").addEventListener("click", run);
byId("cancel").addEventListener("click", cancel);
document.addEventListener("keydown", event => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target !== editor.area && !dialog.open) {
    event.preventDefault();
    run();
  }
});

// ---- tabs and views ----

const tabs = [...document.querySelectorAll(".tabs [role=tab]")];

function choose(tab) {
  for (const other of tabs) {
    const isIt = other === tab;
    other.setAttribute("aria-selected", String(isIt));
    other.tabIndex = isIt ? 0 : -1;
    byId(other.getAttribute("aria-controls")).hidden = !isIt;
  }
  if (tab.id === "tab-sessions") {
    sessions.refresh();
  }
}

tabs.forEach((tab, i) => {
  tab.addEventListener("click", () => choose(tab));
  tab.addEventListener("keydown", event => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) {
      const next = tabs[(i + step + tabs.length) % tabs.length];
      choose(next);
      next.focus();
    }
  });
});

// On a phone there is one view at a time.
function view(name) {
  const tab = byId(`tab-${name}`);
  document.body.dataset.view = tab ? "side" : name;
  if (tab) {
    choose(tab);
  }
  for (const button of document.querySelectorAll(".below button")) {
    button.toggleAttribute("aria-current", false);
    if (button.dataset.goto === name) {
      button.setAttribute("aria-current", "true");
    }
  }
}

for (const button of document.querySelectorAll(".below button")) {
  button.addEventListener("click", () => view(button.dataset.goto));
}

// ---- the beginning ----

async function start() {
  try {
    await api.get("/v1/runtimes"); // the cheapest that needs a key
  } catch (error) {
    onFault(error);
    return;
  }
  environments.refresh();
  history.refresh();
  sessions.refresh();
}

tellKey();
loadDraft();
start();
