// calls.js - calls of tools: those that wait for somebody here to approve or to answer them, and afterwards all
// of them on a line of time.

import { brief, count, duration, el, icon } from "./dom.js";
import { send } from "./api.js";
import { tree } from "./tree.js";

const SHOWN_MAX = 200;
const WAITING_MAX = 50; // at once in the page; those behind are shown when these are answered
const BAR_MIN = 0.6;    // in percent, so that the shortest can be seen

// ---- waiting ----

export class Waiting {
  constructor(onFault) {
    this.list = el("div", { class: "waiting-list" });
    this.node = el("section", { class: "pane waiting", "data-pane": "waiting", hidden: true, role: "alert" },
      el("div", { class: "pane-head" }, el("h3", {}, "Waiting for you")), this.list);
    this.onFault = onFault;
    this.clear();
  }

  clear() {
    this.runId = null;
    this.queue = [];
    this.list.replaceChildren();
    this.node.hidden = true;
  }

  add(runId, call) {
    this.runId = runId;
    this.queue.push(call);
    this.fill();
  }

  fill() {
    while (this.queue.length > 0 && this.list.childElementCount < WAITING_MAX) {
      this.list.append(this.card(this.queue.shift()));
    }
    this.node.hidden = this.list.childElementCount === 0;
  }

  async answer(card, call, body) {
    const buttons = card.querySelectorAll("button");
    buttons.forEach(button => { button.disabled = true; });
    try {
      await send("POST", `/v1/runs/${encodeURIComponent(this.runId)}/calls/${encodeURIComponent(call.id)}`, body);
      card.remove();
    } catch (error) {
      if (error.status === 410 || error.status === 404) {
        card.remove(); // it has been answered, or is over
      }
      buttons.forEach(button => { button.disabled = false; });
      this.onFault(error);
    }
    this.fill();
  }

  card(call) {
    const card = el("article", { class: "ask" },
      el("p", {}, el("strong", {}, brief(call.tool, 128)), call.approval ? " asks to be approved" : " is yours to answer"),
      tree(call.args ?? null, "json"));
    if (call.approval) {
      card.append(el("div", { class: "row" },
        el("button", { type: "button", class: "primary", "data-answer": "yes", onclick: () => this.answer(card, call, { approve: true }) }, icon("good"), " Yes"),
        el("button", { type: "button", class: "danger", "data-answer": "no", onclick: () => this.answer(card, call, { approve: false, reason: "the answer in the playground was no" }) }, icon("bad"), " No")));
      return card;
    }
    const id = `answer-${call.id}`, area = el("textarea", { id, class: "json", rows: 2, spellcheck: "false" });
    const fault = el("p", { class: "fault", role: "alert" });
    const give = () => {
      let value;
      try {
        value = JSON.parse(area.value.trim() === "" ? "null" : area.value);
      } catch (error) {
        fault.textContent = `This is not JSON: ${error.message}`;
        return;
      }
      this.answer(card, call, { value });
    };
    card.append(el("label", { for: id }, "Its answer, as JSON"), area, fault, el("div", { class: "row" },
      el("button", { type: "button", class: "primary", "data-answer": "value", onclick: give }, "Answer"),
      el("button", { type: "button", class: "danger", "data-answer": "error", onclick: () => this.answer(card, call, { error: { name: "ToolError", message: area.value.trim() || "the tool failed" } }) }, "Fail with this")));
    return card;
  }
}

// ---- afterwards ----

function bar(call, total) {
  const node = el("span", { class: "bar-line", "aria-hidden": "true" }), inner = el("span", { class: "bar", "data-status": call.status });
  const left = Math.min(100 - BAR_MIN, 100 * (call.start_us ?? 0) / total);
  inner.style.left = `${left}%`;
  inner.style.width = `${Math.max(BAR_MIN, Math.min(100 - left, 100 * (call.duration_us ?? 0) / total))}%`;
  node.append(inner);
  return node;
}

function row(call, total) {
  const details = el("div", { class: "call-more" });
  const node = el("details", { class: "call" },
    el("summary", {}, el("span", { class: "cut call-name" }, brief(call.name, 128)), bar(call, total),
      el("span", { class: "faint call-time" }, call.status === "ok" ? duration(call.duration_us ?? 0) : brief(call.status, 40))),
    details);
  node.addEventListener("toggle", () => {
    if (!node.open || details.firstChild !== null) {
      return;
    }
    if (call.reason) {
      details.append(el("p", { class: "fault" }, brief(call.reason, 2000)));
    }
    details.append(el("p", { class: "faint" },
      `from ${duration(call.start_us ?? 0)}, for ${duration(call.duration_us ?? 0)}, ${count(call.input_bytes ?? 0)} bytes in, ${count(call.output_bytes ?? 0)} out`));
    for (const part of ["input", "output", "error"]) {
      if (call[part] !== undefined && call[part] !== null) {
        details.append(el("p", { class: "label" }, part), tree(call[part], "json", 1));
      }
    }
  });
  return node;
}

export function callsPane(result) {
  const calls = result.calls ?? [];
  if (calls.length === 0) {
    return null;
  }
  const end = calls.reduce((max, c) => Math.max(max, (c.start_us ?? 0) + (c.duration_us ?? 0)), 1);
  const total = Math.max(end, result.usage?.wall_us ?? 0);
  const list = el("div", { class: "calls" });
  const show = from => {
    list.append(...calls.slice(from, from + SHOWN_MAX).map(call => row(call, total)));
    if (from + SHOWN_MAX < calls.length) {
      const more = el("button", { type: "button", class: "link", onclick: () => { more.remove(); show(from + SHOWN_MAX); } },
        `${count(calls.length - from - SHOWN_MAX)} more`);
      list.append(more);
    }
  };
  show(0);
  return el("section", { class: "pane", "data-pane": "calls" },
    el("div", { class: "pane-head" }, el("h3", {}, "Calls"), el("span", { class: "space" }),
      el("span", { class: "faint" }, `${count(calls.length + (result.calls_dropped ?? 0))} in ${duration(total)}`)),
    list);
}
