// output.js - what a program prints, while it prints. Whatever it prints, the page holds a bounded part of it.

import { bytes, count, el, printable, save } from "./dom.js";

const SHOWN_CHARS_MAX = 200_000;    // in the page: more than anybody reads, and a browser still lays it out at once
const KEPT_CHARS_MAX = 16_000_000;  // to be saved: all streams of a run with the default limits, and more
const PIECE_CHARS_MAX = 20_000;     // of one element, so that the oldest can go piece by piece

export class Output {
  constructor() {
    this.log = el("pre", { class: "log", role: "log", tabindex: 0, "aria-label": "Output" });
    this.notice = el("p", { class: "notice", hidden: true });
    this.node = el("section", { class: "pane", "data-pane": "output", hidden: true },
      el("div", { class: "pane-head" }, el("h3", {}, "Output"), el("span", { class: "space" }),
        this.size = el("span", { class: "faint" }),
        el("button", { type: "button", class: "link", onclick: () => this.save() }, "Save")),
      this.notice, this.log);
    this.clear();
  }

  clear() {
    this.waiting = [];
    this.kept = [];
    this.sizes = []; // of the elements of the log
    this.keptChars = this.shownChars = this.goneChars = this.chars = 0;
    this.dropped = null;
    this.log.replaceChildren();
    this.node.hidden = true;
    this.tell();
  }

  add(stream, text) {
    if (text === "") {
      return;
    }
    this.chars += text.length;
    if (this.keptChars + text.length <= KEPT_CHARS_MAX) {
      this.kept.push(text);
      this.keptChars += text.length;
    }
    if (this.waiting.length === 0) {
      setTimeout(() => this.draw(), 16); // not a frame: a hidden tab has none
    }
    this.waiting.push([stream, text]);
  }

  draw() {
    const waiting = this.waiting;
    const isAtEnd = this.log.scrollTop + this.log.clientHeight >= this.log.scrollHeight - 8;

    this.waiting = [];
    for (let at = 0, to; at < waiting.length; at = to) {
      for (to = at + 1; to < waiting.length && waiting[to][0] === waiting[at][0]; to++) {
        // one stream's run of pieces is put down at once
      }
      this.put(waiting[at][0], printable(waiting.slice(at, to).map(piece => piece[1]).join("")));
    }
    while (this.shownChars > SHOWN_CHARS_MAX && this.sizes.length > 1) {
      const gone = this.sizes.shift();
      this.shownChars -= gone;
      this.goneChars += gone;
      this.log.firstChild.remove();
    }
    this.node.hidden = this.log.firstChild === null;
    this.tell();
    if (isAtEnd) {
      this.log.scrollTop = this.log.scrollHeight;
    }
  }

  put(stream, text) {
    if (text.length > SHOWN_CHARS_MAX) { // its beginning would go at once
      const skipped = text.length - SHOWN_CHARS_MAX;
      this.goneChars += skipped;
      text = text.slice(skipped);
    }
    for (let at = 0, to; at < text.length; at = to) {
      to = Math.min(text.length, at + PIECE_CHARS_MAX);
      to -= to < text.length && text.codePointAt(to - 1) > 0xffff ? 1 : 0; // no character is cut in two
      const piece = text.slice(at, to), last = this.log.lastChild, end = this.sizes.length - 1;
      if (last !== null && last.dataset.stream === stream && this.sizes[end] + piece.length <= PIECE_CHARS_MAX) {
        last.append(piece);
        this.sizes[end] += piece.length;
      } else {
        this.log.append(el("span", { "data-stream": stream }, piece));
        this.sizes.push(piece.length);
      }
      this.shownChars += piece.length;
    }
  }

  // How much the server itself has not kept; from the result.
  finish(result) {
    this.draw();
    this.dropped = result?.dropped ?? null;
    this.tell();
  }

  tell() {
    const lost = (this.dropped?.stdout ?? 0) + (this.dropped?.stderr ?? 0), parts = [];
    if (this.goneChars > 0) {
      parts.push(`${count(this.goneChars)} characters before this are not shown; Save has them.`);
    }
    if (lost > 0) {
      parts.push(`${bytes(lost)} more were printed beyond the limit of the output and are lost.`);
    }
    this.notice.textContent = parts.join(" ");
    this.notice.hidden = parts.length === 0;
    this.size.textContent = this.chars > 0 ? `${count(this.chars)} characters` : "";
  }

  save() {
    save("output.txt", this.kept, "text/plain");
  }
}
