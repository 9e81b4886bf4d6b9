// history.js - the runs of before: what the server has of them, and the programs, which this browser keeps.

import { brief, byId, duration, el } from "./dom.js";
import { get } from "./api.js";
import { statusText, toneOf } from "./result.js";

const KEPT = "vial.runs";
const KEPT_MAX = 50;
const CODE_CHARS_MAX = 20_000; // of one program; 50 of them are well below what a browser keeps for a page
const LISTED = 50;

function load() {
  try {
    const list = JSON.parse(localStorage.getItem(KEPT) ?? "[]");
    return Array.isArray(list) ? list.filter(run => typeof run?.id === "string").slice(0, KEPT_MAX) : [];
  } catch {
    return [];
  }
}

const clock = at => {
  const when = new Date(at), today = new Date().toDateString() === when.toDateString();
  return Number.isNaN(when.getTime()) ? "" : when.toLocaleString("en-GB", today
    ? { hour: "2-digit", minute: "2-digit", second: "2-digit" } : { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
};

const titleOf = run => {
  const lines = String(run.code ?? "").split("\n").map(line => line.trim());
  return lines.find(line => line !== "" && !line.startsWith("//") && !line.startsWith("#")) ?? lines.find(line => line !== "") ?? `run …${run.id.slice(-8)}`;
};

export class History {
  constructor(onOpen, onFault) {
    this.own = load(); // newest first
    this.listed = [];
    this.current = null;
    this.host = byId("runs");
    this.onOpen = onOpen;
    this.onFault = onFault;
    this.draw();
  }

  keep(run) {
    this.own = [run, ...this.own.filter(other => other.id !== run.id)].slice(0, KEPT_MAX);
    try {
      localStorage.setItem(KEPT, JSON.stringify(this.own.map(kept => ({ ...kept, code: String(kept.code).slice(0, CODE_CHARS_MAX) }))));
    } catch {
      // no room, or not allowed: then it is for as long as the page is open
    }
    this.current = run.id;
    this.draw();
  }

  forget() {
    this.own = [];
    localStorage.removeItem(KEPT);
    this.draw();
  }

  // The first line of what was last evaluated in a session; "" when this browser does not know.
  lastIn(session) {
    const run = this.own.find(other => other.session === session && other.code);
    return run ? titleOf(run) : "";
  }

  // Wall times, oldest first.
  times() {
    return this.own.map(run => run.wall_us).filter(us => us > 0).reverse();
  }

  async refresh() {
    try {
      this.listed = (await get(`/v1/runs?limit=${LISTED}`)).items ?? [];
      this.draw();
    } catch (error) {
      this.onFault(error, true);
    }
  }

  merged() {
    const own = new Map(this.own.map(run => [run.id, run]));
    const all = this.listed.map(run => {
      const kept = own.get(run.id);
      own.delete(run.id);
      return { ...run, ...(kept ?? {}), status: run.status, created_at: run.created_at };
    });
    return [...all, ...own.values()].sort((a, b) => String(b.created_at).localeCompare(String(a.created_at)));
  }

  draw() {
    const runs = this.merged().slice(0, LISTED + KEPT_MAX);
    this.host.replaceChildren(
      el("div", { class: "side-head" },
        el("span", { class: "faint" }, runs.length === 0 ? "No runs yet" : `${runs.length} runs`), el("span", { class: "space" }),
        el("button", { type: "button", class: "link", onclick: () => this.refresh() }, "Refresh"),
        this.own.length > 0 ? el("button", { type: "button", class: "link", title: "Forgets the programs that this browser keeps", onclick: () => this.forget() }, "Forget") : null),
      el("ul", { class: "list" }, runs.map(run => this.row(run))));
  }

  row(run) {
    const wall = run.wall_us > 0 ? run.wall_us : (Date.parse(run.ended_at) - Date.parse(run.started_at)) * 1000;
    const facts = [clock(run.created_at), Number.isFinite(wall) ? duration(wall) : null, run.environment].filter(Boolean);
    return el("li", {}, el("button", {
      type: "button", class: "item", "aria-current": run.id === this.current ? "true" : null, onclick: () => this.open(run),
    },
    el("span", { class: "item-top" }, el("i", { class: "light", "data-tone": toneOf(run.status), title: statusText(run.status) }),
      el("span", { class: run.code ? "cut mono" : "cut mono faint" }, brief(titleOf(run), 80))),
    el("span", { class: "faint cut" }, brief([run.status === "ok" ? null : statusText(run.status), ...facts].filter(Boolean).join(" · "), 160))));
  }

  async open(run) {
    this.current = run.id;
    this.draw();
    try {
      this.onOpen(run, await get(`/v1/runs/${encodeURIComponent(run.id)}`));
    } catch (error) {
      this.onOpen(run, null);
      this.onFault(error);
    }
  }
}
