// sessions.js - sessions as a tree: a branch hangs beneath what it was branched from.

import { brief, byId, bytes, el } from "./dom.js";
import { get, send } from "./api.js";

const SHOWN_MAX = 200;

const short = id => "…" + String(id).slice(-6);

export class Sessions {
  // settings: what a new one is made with; lastIn: what was last evaluated in one; onChoose: gets the session, or
  // null.
  constructor(settings, lastIn, onChoose, onFault) {
    this.host = byId("sessions");
    this.list = [];
    this.chosen = null;
    this.showsEnded = false;
    this.languages = new Map(); // of those that were made here; the server does not tell
    this.settings = settings;
    this.lastIn = lastIn;
    this.onChoose = onChoose;
    this.onFault = onFault;
    this.draw();
  }

  get current() {
    return this.list.find(session => session.id === this.chosen) ?? null;
  }

  async refresh() {
    try {
      this.list = ((await get("/v1/sessions")).items ?? []).slice(0, SHOWN_MAX);
      if (this.current === null || this.current.state === "ended") {
        this.choose(null);
      } else {
        this.choose(this.chosen);
      }
    } catch (error) {
      this.onFault(error, true);
    }
  }

  choose(id) {
    this.chosen = id;
    this.onChoose(this.current, this.languages.get(id));
    this.draw();
  }

  async act(what) {
    try {
      await what();
    } catch (error) {
      this.onFault(error);
    }
    await this.refresh();
  }

  create() {
    return this.act(async () => {
      const settings = this.settings(), made = await send("POST", "/v1/sessions", settings);
      this.languages.set(made.id, settings.language);
      this.list.unshift(made);
      this.chosen = made.id;
    });
  }

  branch(id) {
    return this.act(async () => {
      const made = (await send("POST", `/v1/sessions/${encodeURIComponent(id)}/branch`, { count: 1 })).items ?? [];
      this.chosen = made[0]?.id ?? id;
      this.languages.set(this.chosen, this.languages.get(id));
    });
  }

  end(id) {
    return this.act(() => send("DELETE", `/v1/sessions/${encodeURIComponent(id)}`));
  }

  // Those that ended stay only as what living ones were branched from, unless all are asked for.
  withoutDead() {
    if (this.showsEnded) {
      return this.list;
    }
    const byId = new Map(this.list.map(session => [session.id, session])), seen = new Set();
    for (const session of this.list.filter(other => other.state !== "ended")) {
      for (let at = session; at !== undefined && !seen.has(at.id); at = byId.get(at.parent)) {
        seen.add(at.id);
      }
    }
    return this.list.filter(session => seen.has(session.id));
  }

  toggleEnded() {
    this.showsEnded = !this.showsEnded;
    this.draw();
  }

  draw() {
    const seen = this.withoutDead(), known = new Set(seen.map(session => session.id)), hidden = this.list.length - seen.length;
    const byAge = [...seen].sort((a, b) => String(a.created_at).localeCompare(String(b.created_at)));
    const roots = byAge.filter(session => !known.has(session.parent));
    const live = this.list.filter(session => session.state !== "ended").length;
    this.host.replaceChildren(
      el("div", { class: "side-head" }, el("span", { class: "faint" }, `${live} alive`), el("span", { class: "space" }),
        el("button", { type: "button", class: "link", onclick: () => this.refresh() }, "Refresh"),
        el("button", { type: "button", class: "link", id: "session-new", onclick: () => this.create() }, "New")),
      byAge.length === 0
        ? el("p", { class: "empty" }, "A session keeps its variables between programs, and can be branched: to try several things from one state, or to go back.")
        : el("ul", { class: "branches", "aria-label": "Sessions" }, roots.map(session => this.node(session, byAge))),
      hidden > 0 || this.showsEnded ? el("button", { type: "button", class: "link ended", onclick: () => this.toggleEnded() },
        this.showsEnded ? "Hide those that ended" : `${hidden} ended`) : "",
      this.current === null ? "" : this.card(this.current));
  }

  node(session, byAge) {
    const children = byAge.filter(other => other.parent === session.id);
    const isEnded = session.state === "ended";
    const facts = isEnded ? "ended" : `${session.evals ?? 0} ${session.evals === 1 ? "evaluation" : "evaluations"} · ${bytes(session.memory_bytes ?? 0)}`;
    return el("li", {},
      el("button", {
        type: "button", class: "item", "data-session": session.id, "data-ended": isEnded ? "true" : null,
        "aria-current": session.id === this.chosen ? "true" : null, title: isEnded ? brief(session.ended ?? "ended", 200) : brief(session.id, 80),
        disabled: isEnded, onclick: () => this.choose(session.id),
      },
      el("span", { class: "item-top" }, el("i", { class: "light", "data-tone": isEnded ? "none" : session.state === "busy" ? "busy" : "good" }),
        el("span", { class: "cut mono" }, session.name ? brief(session.name, 40) : short(session.id))),
      el("span", { class: "faint cut" }, facts),
      isEnded || !this.lastIn(session.id) ? null : el("span", { class: "faint cut mono" }, brief(this.lastIn(session.id), 80))),
      children.length > 0 ? el("ul", {}, children.map(child => this.node(child, byAge))) : null);
  }

  card(session) {
    const facts = [["Session", session.id], ["Environment", session.environment ?? "none"], ["Evaluations", session.evals ?? 0],
      ["Branches", session.branches ?? 0], ["Memory", bytes(session.memory_bytes ?? 0)], ["Files", `${session.files ?? 0}, ${bytes(session.file_bytes ?? 0)}`]];
    return el("div", { class: "card" },
      el("dl", {}, facts.map(([name, value]) => [el("dt", {}, name), el("dd", { class: "cut", title: brief(value, 100) }, brief(value, 100))])),
      el("div", { class: "row" },
        el("button", { type: "button", id: "session-branch", onclick: () => this.branch(session.id) }, "Branch"),
        el("button", { type: "button", id: "session-leave", class: "quiet", onclick: () => this.choose(null) }, "Leave"),
        el("span", { class: "space" }),
        el("button", { type: "button", id: "session-end", class: "danger", onclick: () => this.end(session.id) }, "End")));
  }
}
