// editor.js - the editor: a text area whose letters are invisible over the same text in colours.

import { byId, el } from "./dom.js";
import { highlight } from "./highlight.js";

const COLOURED_CHARS_MAX = 200_000; // more than that is shown in one colour, so that typing stays quick

export class Editor {
  constructor(onRun) {
    const host = byId("editor");

    this.area = byId("source");
    this.stack = host.querySelector(".stack");
    this.paint = host.querySelector(".paint");
    this.gutter = host.querySelector(".gutter");
    this.mark = host.querySelector(".mark");
    this.place = byId("place");
    this.language = "javascript";
    this.faultLine = 0;
    this.lines = 0;
    this.leaves = false;
    this.onRun = onRun;
    this.onChange = () => {};
    this.area.addEventListener("input", () => {
      this.setFault(0);
      this.draw();
      this.onChange();
    });
    this.area.addEventListener("scroll", () => this.follow());
    this.area.addEventListener("keydown", event => this.press(event));
    document.addEventListener("selectionchange", () => this.tellPlace());
    new ResizeObserver(() => this.follow()).observe(this.stack);
  }

  get text() {
    return this.area.value;
  }

  set text(text) {
    this.area.value = text;
    this.setFault(0);
    this.draw();
    this.area.setSelectionRange(0, 0);
    this.area.scrollTo(0, 0);
    this.onChange();
  }

  setLanguage(language) {
    this.language = language;
    this.draw();
  }

  // Marks a line, or none with 0.
  setFault(line, message) {
    this.faultLine = line;
    this.mark.hidden = line < 1;
    if (line > 0) {
      this.mark.style.setProperty("--line", String(line - 1));
      this.area.setAttribute("aria-invalid", "true");
    } else {
      this.area.removeAttribute("aria-invalid");
    }
    this.mark.title = message ?? "";
    this.drawGutter();
  }

  goTo(line, column) {
    const lines = this.text.split("\n").slice(0, line);
    const start = lines.slice(0, -1).reduce((sum, text) => sum + text.length + 1, 0);
    const at = start + Math.max(0, Math.min((column ?? 1) - 1, lines[lines.length - 1]?.length ?? 0));
    this.area.focus();
    this.area.setSelectionRange(at, at);
    this.area.scrollTop = Math.max(0, (line - 4) * this.lineHeight());
  }

  lineHeight() {
    return parseFloat(getComputedStyle(this.area).lineHeight);
  }

  draw() {
    const text = this.text;
    const pieces = text.length > COLOURED_CHARS_MAX ? [["plain", text]] : highlight(text, this.language);
    this.paint.replaceChildren(...pieces.map(([kind, piece]) =>
      kind === "plain" ? document.createTextNode(piece) : el("span", { class: `t-${kind}` }, piece)), "\n");
    this.drawGutter();
    this.tellPlace();
    this.follow();
  }

  drawGutter() {
    const lines = this.text.split("\n").length;
    const numbers = Array.from({ length: lines }, (_, i) => i + 1);
    if (this.faultLine > 0 && this.faultLine <= lines) {
      const before = numbers.slice(0, this.faultLine - 1).join("\n");
      this.gutter.replaceChildren(before === "" ? "" : before + "\n",
        el("span", { class: "fault-number" }, String(this.faultLine)),
        "\n" + numbers.slice(this.faultLine).join("\n") + "\n");
    } else if (lines !== this.lines || this.gutter.childElementCount > 0) {
      this.gutter.textContent = numbers.join("\n") + "\n";
    }
    this.lines = lines;
  }

  follow() {
    const { scrollLeft: x, scrollTop: y } = this.area;
    this.paint.style.transform = `translate(${-x}px, ${-y}px)`;
    this.gutter.style.transform = `translateY(${-y}px)`;
    this.mark.style.transform = `translateY(${-y}px)`;
  }

  tellPlace() {
    const before = this.text.slice(0, this.area.selectionStart);
    const line = before.split("\n").length;
    this.place.textContent = `${line}:${before.length - before.lastIndexOf("\n")}`;
  }

  // Types text in place of the selection, so that it can be undone.
  type(text) {
    if (!document.execCommand("insertText", false, text)) {
      this.area.setRangeText(text, this.area.selectionStart, this.area.selectionEnd, "end");
      this.area.dispatchEvent(new Event("input"));
    }
  }

  press(event) {
    const leaves = this.leaves;
    this.leaves = event.key === "Escape";
    if (event.isComposing) {
      return;
    }
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.onRun();
    } else if (event.key === "Tab" && !leaves && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      this.indent(event.shiftKey);
    } else if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      this.breakLine();
    } else if (event.key === "/" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.comment();
    } else if (event.key === "Shift" && leaves) {
      this.leaves = true; // Escape, then Shift and Tab
    }
  }

  step() {
    return this.language === "python" ? "    " : "  ";
  }

  breakLine() {
    const at = this.area.selectionStart, text = this.text;
    const line = text.slice(text.lastIndexOf("\n", at - 1) + 1, at);
    const deeper = (this.language === "python" ? /:\s*$/ : /[{[(]\s*$/).test(line);
    this.type("\n" + /^[ \t]*/.exec(line)[0] + (deeper ? this.step() : ""));
  }

  // Replaces the lines that the selection touches.
  changeLines(change) {
    const text = this.text, from = text.lastIndexOf("\n", this.area.selectionStart - 1) + 1;
    let to = text.indexOf("\n", Math.max(from, this.area.selectionEnd - 1));
    to = to < 0 ? text.length : to;
    const old = text.slice(from, to), changed = change(old.split("\n")).join("\n");
    if (changed !== old) {
      this.area.setSelectionRange(from, to);
      this.type(changed);
      this.area.setSelectionRange(from, from + changed.length);
    }
  }

  indent(isBack) {
    const step = this.step(), { selectionStart: from, selectionEnd: to } = this.area;
    if (isBack) {
      const at = this.area.selectionStart;
      this.changeLines(lines => lines.map(line =>
        line.startsWith("\t") ? line.slice(1) : line.replace(new RegExp(`^ {1,${step.length}}`), "")));
      if (from === to) {
        const start = this.text.lastIndexOf("\n", this.area.selectionStart - 1) + 1;
        this.area.setSelectionRange(Math.max(start, at - step.length), Math.max(start, at - step.length));
      }
    } else if (this.text.slice(from, to).includes("\n")) {
      this.changeLines(lines => lines.map(line => line === "" ? line : step + line));
    } else {
      this.type(step);
    }
  }

  comment() {
    const sign = this.language === "python" ? "#" : "//";
    this.changeLines(lines => {
      const isAll = lines.every(line => line.trim() === "" || line.trimStart().startsWith(sign));
      return lines.map(line => line.trim() === "" ? line
        : isAll ? line.replace(new RegExp(`^(\\s*)${sign} ?`), "$1")
          : line.replace(/^(\s*)/, `$1${sign} `));
    });
  }
}
