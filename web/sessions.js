// sessions.js - sessions as a tree: a branch hangs beneath what it was branched from.

import { brief, byId, bytes, el, save } from "./dom.js";
import { get, getBlob, send } from "./api.js";

const SHOWN_MAX = 200;
const FILES_MAX = 100; // drawn; the API has all of them
const NAME_MAX = 40;

const short = id => "…" + String(id).slice(-6);
const pathOf = (id, rest) => `/v1/sessions/${encodeURIComponent(id)}${rest}`;

// What it is called, for people: branches are called what their parent is, so the end of the id tells them apart.
export const sessionName = session => session.name ? `${brief(session.name, NAME_MAX)} ${short(session.id)}` : short(session.id);

export class Sessions {
  // settings: what a new one is made with; lastIn: what was last evaluated in one; onChoose: gets the session, or
  // null.
  constructor(settings, lastIn, onChoose, onFault) {
    this.host = byId("sessions");
    this.list = [];
    this.chosen = null;
    this.showsEnded = false;
    this.files = null; // of the chosen one: what is drawn, when it was asked for
    this.showsFiles = false;
    this.settings = settings;
    this.lastIn = lastIn;
    this.onChoose = onChoose;
    this.onFault = onFault;
    this.nameField = el("input", {
      id: "session-name", type: "text", maxlength: NAME_MAX, placeholder: "Name of a new one", "aria-label": "Name of a new session", autocomplete: "off",
      spellcheck: "false", onkeydown: event => event.key === "Enter" && !event.ctrlKey && !event.metaKey && this.create(),
    });
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
    this.onChoose(this.current);
    this.draw();
    this.readFiles();
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
      const name = byId("session-name").value.trim();
      const made = await send("POST", "/v1/sessions", { ...this.settings(), name: name || undefined });
      byId("session-name").value = "";
      this.list.unshift(made);
      this.chosen = made.id;
    });
  }

  branch(id) {
    return this.act(async () => {
      const made = (await send("POST", pathOf(id, "/branch"), { count: 1 })).items ?? [];
      this.chosen = made[0]?.id ?? id;
    });
  }

  end(id) {
    return this.act(() => send("DELETE", pathOf(id, "")));
  }

  // Looking at them is a small evaluation of the session, so it is done for those who have asked for it.
  async readFiles() {
    const session = this.current;
    if (session === null || !this.showsFiles || !session.files || session.state === "busy") {
      return;
    }
    try {
      const list = (await get(pathOf(session.id, "/files"))).items ?? [];
      this.files = { id: session.id, list };
    } catch (error) {
      this.files = { id: session.id, list: [], fault: error.message };
    }
    if (this.chosen === session.id) {
      byId("session-files")?.replaceChildren(...this.fileRows());
      this.keepInView(); // what is told of it has grown
    }
  }

  async download(name) {
    try {
      const blob = await getBlob(pathOf(this.chosen, "/files/" + name.split("/").map(encodeURIComponent).join("/")));
      save(name.split("/").at(-1), [blob], "application/octet-stream");
    } catch (error) {
      this.onFault(error);
    }
  }

  fileRows() {
    if (this.files?.id !== this.chosen) {
      return [el("li", { class: "faint" }, "…")];
    }
    const { list, fault } = this.files, rows = list.slice(0, FILES_MAX).map(file => {
      const name = brief(file.name, 300), at = name.lastIndexOf("/") + 1; // the directory is cut first
      return el("li", {},
        el("button", { type: "button", class: "link", "data-file": name, title: `Save ${name}`, onclick: () => this.download(file.name) },
          at > 0 ? el("span", { class: "cut folder" }, name.slice(0, at)) : null, el("span", { class: "cut" }, name.slice(at))),
        el("span", { class: "faint" }, bytes(file.size ?? 0)));
    });
    if (list.length === 0 && !fault) {
      rows.push(el("li", { class: "faint" }, "only directories")); // which the server counts as well
    } else if (fault) {
      rows.push(el("li", { class: "fault" }, brief(fault, 200)));
    } else if (list.length > FILES_MAX) {
      rows.push(el("li", { class: "faint" }, `and ${list.length - FILES_MAX} more`));
    }
    return rows;
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
    const before = this.host.querySelector(".hold")?.scrollTop ?? 0;
    const hold = el("div", { class: "hold" },
      byAge.length === 0
        ? el("p", { class: "empty" }, "A session keeps its variables between programs, and can be branched: to try several things from one state, or to go back.")
        : el("ul", { class: "branches", "aria-label": "Sessions" }, roots.map(session => this.node(session, byAge))),
      hidden > 0 || this.showsEnded ? el("button", { type: "button", class: "link ended", onclick: () => this.toggleEnded() },
        this.showsEnded ? "Hide those that ended" : `${hidden} ended`) : "");
    this.host.replaceChildren(
      el("div", { class: "side-head" }, el("span", { class: "faint" }, `${live} alive`), el("span", { class: "space" }),
        el("button", { type: "button", class: "link", onclick: () => this.refresh() }, "Refresh"),
        el("button", { type: "button", class: "link", id: "session-new", onclick: () => this.create() }, "New")),
      el("div", { class: "side-name" }, this.nameField), hold, this.current === null ? "" : this.card(this.current));
    hold.scrollTop = before;
    this.keepInView();
  }

  keepInView() {
    this.host.querySelector(".hold [aria-current=true]")?.scrollIntoView({ block: "nearest" });
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
        session.name ? [el("span", { class: "cut" }, brief(session.name, NAME_MAX)), el("span", { class: "faint mono" }, short(session.id))]
          : el("span", { class: "cut mono" }, short(session.id))),
      el("span", { class: "faint cut" }, facts),
      isEnded || !this.lastIn(session.id) ? null : el("span", { class: "faint cut mono" }, brief(this.lastIn(session.id), 80))),
      children.length > 0 ? el("ul", {}, children.map(child => this.node(child, byAge))) : null);
  }

  toggleFiles(isOpen) {
    if (isOpen !== this.showsFiles) {
      this.showsFiles = isOpen;
      this.readFiles();
    }
  }

  card(session) {
    const facts = [["Name", session.name ?? "none"], ["Session", session.id], ["Language", session.language ?? "javascript"], ["Environment", session.environment ?? "none"], ["Evaluations", session.evals ?? 0],
      ["Branches", session.branches ?? 0], ["Memory", bytes(session.memory_bytes ?? 0)]];
    const files = el("details", { class: "files", open: this.showsFiles, ontoggle: event => this.toggleFiles(event.target.open) },
      el("summary", {}, `Files, ${bytes(session.file_bytes ?? 0)}`),
      el("ul", { id: "session-files", "aria-label": "Files of the session" }, this.showsFiles ? this.fileRows() : []));
    return el("div", { class: "card" },
      el("dl", {}, facts.map(([name, value]) => [el("dt", {}, name), el("dd", { class: "cut", title: brief(value, 100) }, brief(value, 100))])),
      session.files > 0 ? files : el("p", { class: "faint files" }, "No files"),
      el("div", { class: "row" },
        el("button", { type: "button", id: "session-branch", onclick: () => this.branch(session.id) }, "Branch"),
        el("button", { type: "button", id: "session-leave", class: "quiet", onclick: () => this.choose(null) }, "Leave"),
        el("span", { class: "space" }),
        el("button", { type: "button", id: "session-end", class: "danger", onclick: () => this.end(session.id) }, "End")));
  }
}
