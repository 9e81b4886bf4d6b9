// result.js - the panes of one run: while it goes, from its events, and afterwards, from its result.

import { brief, bytes, byId, duration, el } from "./dom.js";
import { artifactsPane } from "./artifacts.js";
import { callsPane, Waiting } from "./calls.js";
import { Output } from "./output.js";
import { tree } from "./tree.js";
import { usagePane } from "./usage.js";

const TONES = { ok: "good", running: "busy", queued: "busy", cancelled: "none" };
const FRAMES_MAX = 20;
const FINDINGS_MAX = 50;
const COLUMNS_MAX = 120; // of a line that is shown whole, so that a sign can stand under a place in it

const toneOf = status => TONES[status] ?? (/_limit$/.test(status) ? "warn" : "bad");
export const statusText = status => String(status).replaceAll("_", " ");
export { toneOf };

// The line with a sign under the place.
function sourceLine(error) {
  const line = String(error.source_line), column = Number(error.column ?? 0);
  const isShort = line.length <= COLUMNS_MAX && column > 0 && column <= line.length + 1;
  return brief(line, 500) + (isShort ? "\n" + line.slice(0, column - 1).replace(/[^\t]/g, " ") + "^" : "");
}

export class ResultView {
  constructor(editor, onFault) {
    this.host = byId("result");
    this.status = byId("status");
    this.figures = byId("figures");
    this.editor = editor;
    this.output = new Output();
    this.waiting = new Waiting(onFault);
    this.after = el("div", { class: "after" });
    this.empty = el("p", { class: "empty" }, "The value, the output, the calls and what the run took will be here.");
    this.error = el("div", {});
    this.host.replaceChildren(this.empty, this.waiting.node, this.error, this.output.node, this.after);
    this.urls = [];
  }

  setStatus(status, figures = "") {
    this.status.textContent = brief(statusText(status), 60);
    this.status.dataset.tone = toneOf(status);
    this.figures.textContent = figures;
  }

  clear() {
    this.urls.forEach(url => URL.revokeObjectURL(url));
    this.urls = [];
    this.empty.hidden = true;
    this.output.clear();
    this.waiting.clear();
    this.error.replaceChildren();
    this.after.replaceChildren();
  }

  begin() {
    this.clear();
    this.editor.setFault(0);
    this.setStatus("running");
  }

  event(event, runId) {
    switch (event.type) {
      case "start":
        this.setStatus("running");
        break;
      case "progress":
        this.setStatus("queued");
        break;
      case "stdout": case "stderr":
        this.output.add(event.type, String(event.text ?? ""));
        break;
      case "call":
        this.waiting.add(runId, event.call ?? {});
        break;
      default: // what is new to this page does no harm
    }
  }

  // The server could not do its part.
  fail(problem) {
    this.waiting.clear();
    this.output.draw();
    this.setStatus(problem.status === 0 ? "failed" : `refused: ${problem.status}`);
    this.status.dataset.tone = "bad";
    this.error.replaceChildren(el("section", { class: "pane error", "data-pane": "error", role: "alert" },
      el("p", { class: "message" }, brief(problem.message, 4000)),
      problem.faults?.length > 0 ? el("ul", {}, problem.faults.slice(0, FINDINGS_MAX).map(fault =>
        el("li", {}, brief(typeof fault === "string" ? fault : `${fault.pointer ?? fault.path ?? ""} ${fault.detail ?? fault.message ?? ""}`, 500)))) : null));
  }

  // times: of the runs before this one and of this one.
  show(result, times, isStored) {
    const usage = result.usage;

    this.waiting.clear();
    if (isStored) {
      this.output.add("stdout", result.stdout ?? "");
      this.output.add("stderr", result.stderr ?? "");
    }
    this.output.finish(result);
    this.setStatus(result.status, usage
      ? `${duration(usage.wall_us ?? 0)} · ${duration(usage.cpu_us ?? 0)} cpu · ${bytes(usage.memory_bytes_peak ?? 0)}` : "");
    if (result.error) {
      this.showError(result.error);
    }
    this.after.replaceChildren(...[
      this.valuePane(result), artifactsPane(result, this.urls), this.findingsPane(result), callsPane(result),
      usagePane(result, times), this.foot(result),
    ].filter(pane => pane !== null));
  }

  // Places in the program itself can be clicked; others are only named.
  placeOf(error) {
    if (!error.line) {
      return null;
    }
    const text = `line ${error.line}${error.column ? `, column ${error.column}` : ""}`;
    return el("button", { type: "button", class: "link", onclick: () => this.editor.goTo(error.line, error.column) }, text);
  }

  showError(error) {
    const frames = Array.isArray(error.frames) ? error.frames : [];
    if (error.line) {
      this.editor.setFault(error.line, brief(error.message ?? "", 300));
    }
    this.error.replaceChildren(el("section", { class: "pane error", "data-pane": "error" },
      el("p", { class: "message" }, el("strong", {}, brief(error.name ?? "Error", 100)), ": ", brief(error.message ?? "", 4000)),
      el("p", {}, this.placeOf(error)),
      error.source_line ? el("pre", { class: "log source" }, sourceLine(error)) : null,
      error.hint ? el("p", { class: "hint" }, brief(error.hint, 1000)) : null,
      frames.length > 1 ? el("details", {}, el("summary", {}, `${frames.length} frames`),
        el("ul", { class: "frames" }, frames.slice(0, FRAMES_MAX).map(frame =>
          el("li", {}, brief(`${frame.function || "at"} ${frame.file ?? ""}:${frame.line ?? "?"}`, 300))))) : null));
  }

  valuePane(result) {
    if (result.status !== "ok") {
      return null;
    }
    return el("section", { class: "pane", "data-pane": "value" },
      el("div", { class: "pane-head" }, el("h3", {}, "Value"), el("span", { class: "space" }),
        "value" in result ? el("button", { type: "button", class: "link", onclick: event => this.copy(event.target, result.value) }, "Copy") : null),
      "value" in result ? tree(result.value, result.value_format) : el("p", { class: "v-null tree" }, "undefined"));
  }

  async copy(button, value) {
    try {
      await navigator.clipboard.writeText(JSON.stringify(value, null, 2));
      button.textContent = "Copied";
    } catch {
      button.textContent = "not allowed here";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  }

  findingsPane(result) {
    const findings = result.findings ?? [];
    if (findings.length === 0) {
      return null;
    }
    return el("section", { class: "pane", "data-pane": "findings" },
      el("div", { class: "pane-head" }, el("h3", {}, "Findings of the scanner")),
      el("ul", { class: "frames" }, findings.slice(0, FINDINGS_MAX).map(finding =>
        el("li", {}, brief(`${finding.severity} ${finding.id}, line ${finding.line}: ${finding.message}`, 500)))));
  }

  foot(result) {
    const parts = [result.id, result.environment, result.session, result.cancel_reason ? `cancelled: ${result.cancel_reason}` : null];
    return el("p", { class: "foot faint" }, parts.filter(Boolean).map(part => brief(part, 120)).join(" · "));
  }
}
