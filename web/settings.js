// settings.js - what goes along with a program: its input, its limits, tools that this page answers.

import { byId, el } from "./dom.js";

const MIB = 1024 * 1024;

// The defaults are those of docs/result.md; the server knows the ranges and says when one is left.
const LIMITS = [
  { name: "wall_ms_max", label: "Time", unit: "ms", factor: 1, usual: 10_000 },
  { name: "cpu_ms_max", label: "Processor", unit: "ms", factor: 1, usual: 5_000 },
  { name: "memory_bytes_max", label: "Memory", unit: "MiB", factor: MIB, usual: 128 },
  { name: "disk_bytes_max", label: "Files", unit: "MiB", factor: MIB, usual: 64 },
  { name: "stdout_bytes_max", label: "Output", unit: "KiB", factor: 1024, usual: 1024 },
  { name: "calls_max", label: "Calls", unit: "", factor: 1, usual: 1_000 },
];

export class Settings {
  constructor() {
    this.fields = LIMITS.map(limit => {
      const id = `limit-${limit.name}`;
      const field = el("input", { id, type: "number", min: 1, step: 1, inputmode: "numeric", placeholder: String(limit.usual) });
      byId("limits").append(el("label", { for: id }, limit.label), field, el("span", { class: "faint" }, limit.unit));
      return [limit, field];
    });
    const strip = document.querySelector(".settings .strip");
    strip.addEventListener("click", event => {
      const button = event.target.closest("button");
      if (button !== null) {
        this.open(button.getAttribute("aria-controls"), button.getAttribute("aria-expanded") !== "true");
      }
    });
    this.buttons = [...strip.querySelectorAll("button")];
    for (const area of [byId("input"), byId("own-tools")]) {
      area.addEventListener("input", () => {
        byId(`${area.id}-fault`).textContent = "";
        this.mark();
      });
    }
    byId("limits").addEventListener("input", () => this.mark());
  }

  // What a run has that asks for nothing, in the environment that was picked.
  setUsual(limits) {
    for (const [limit, field] of this.fields) {
      const given = Number(limits[limit.name]);
      field.placeholder = String(given > 0 ? given / limit.factor : limit.usual);
    }
  }

  open(id, isOpen) {
    for (const button of this.buttons) {
      const own = button.getAttribute("aria-controls"), isIt = own === id && isOpen;
      button.setAttribute("aria-expanded", String(isIt));
      byId(own).hidden = !isIt;
    }
  }

  // A button says when there is something behind it.
  mark() {
    const filled = [byId("input").value.trim() !== "", this.fields.some(([, field]) => field.value !== ""), byId("own-tools").value.trim() !== ""];
    this.buttons.forEach((button, i) => button.classList.toggle("filled", filled[i]));
  }

  json(id, check) {
    const text = byId(id).value.trim(), fault = byId(`${id}-fault`);
    fault.textContent = "";
    if (text === "") {
      return undefined;
    }
    try {
      const value = JSON.parse(text);
      const wrong = check?.(value);
      if (wrong) {
        throw new Error(wrong);
      }
      return value;
    } catch (error) {
      fault.textContent = `This is not what is needed: ${error.message}`;
      this.open(`set-${id === "input" ? "input" : "tools"}`, true);
      byId(id).focus();
      throw error;
    }
  }

  limits() {
    const given = {};
    for (const [limit, field] of this.fields) {
      const n = Number(field.value);
      if (field.value !== "" && Number.isFinite(n)) {
        given[limit.name] = Math.round(n * limit.factor);
      }
    }
    return Object.keys(given).length > 0 ? given : undefined;
  }

  // Throws after it has shown what is wrong.
  read() {
    return {
      input: this.json("input"),
      limits: this.limits(),
      tools: this.json("own-tools", value => Array.isArray(value) ? null : "an array of tools"),
    };
  }
}
