// environments.js - the environments that there are, and what programs find in the one that was picked.

import { brief, byId, el, printable } from "./dom.js";
import { get, getText } from "./api.js";
import { highlight } from "./highlight.js";

const SHOWN_MAX = 200;
const SHIPPED = "data"; // comes along with vial, so that no list has it
const TYPES_CHARS_MAX = 60_000;

export class Environments {
  constructor(onPick, onFault) {
    this.pick = byId("environment");
    this.host = byId("tools");
    this.onPick = onPick;
    this.onFault = onFault;
    this.pick.addEventListener("change", () => {
      this.describe();
      this.onPick(this.pick.value);
    });
    this.describe();
  }

  get name() {
    return this.pick.value;
  }

  // Also for the environment of a session, which may be a version that the list does not have.
  set name(name) {
    if (![...this.pick.options].some(option => option.value === name)) {
      this.pick.append(el("option", { value: name }, brief(name, 80)));
    }
    if (this.pick.value !== name) {
      this.pick.value = name;
      this.describe();
    }
  }

  async refresh() {
    const before = this.pick.value;
    try {
      const stored = ((await get("/v1/environments?limit=200")).items ?? []).slice(0, SHOWN_MAX).map(item => item.name);
      const names = [...new Set([...stored, SHIPPED])].sort();
      this.pick.replaceChildren(el("option", { value: "" }, "none"),
        ...names.map(name => el("option", { value: name }, brief(name, 80))));
      this.name = before;
    } catch (error) {
      this.onFault(error, true);
    }
  }

  async describe() {
    const name = this.pick.value;
    if (name === "") {
      this.onDocument?.(null);
      this.host.replaceChildren(el("p", { class: "empty" },
        "Pick an environment to see its tools and their types. Without one a program has no tools but those that you declare under the editor."));
      return;
    }
    const ref = encodeURIComponent(name).replaceAll("%40", "@"); // of name@version; it means itself in a URL
    const [tools, types, document] = await Promise.allSettled([get(`/v1/tools?environment=${ref}`),
      getText(`/v1/environments/${ref}/types`), get(`/v1/environments/${ref}`)]);
    if (this.pick.value !== name) {
      return; // another one was picked meanwhile
    }
    const failed = [tools, types].find(part => part.status === "rejected");
    if (failed !== undefined) {
      this.onFault(failed.reason);
    }
    this.draw(name, tools.value?.items ?? [], types.value ?? "", document.value ?? null);
  }

  draw(name, tools, types, document) {
    const isPython = document ? document.language === "python" : /^\s*(?:class|def|async def|from|import)\b/m.test(types) && !/\bdeclare\b/.test(types);
    this.host.replaceChildren(
      el("div", { class: "side-head" }, el("strong", { class: "cut" }, brief(name, 80)), el("span", { class: "space" }),
        el("span", { class: "faint" }, `${tools.length} tools`)),
      document?.description ? el("p", { class: "about" }, brief(document.description, 1000)) : "",
      el("ul", { class: "list" }, tools.slice(0, SHOWN_MAX).map(tool => el("li", { class: "tool" },
        el("p", { class: "item-top" }, el("span", { class: "cut mono" }, brief(tool.name, 128)),
          tool.approve ? el("span", { class: "chip", "data-tone": "warn" }, "approval") : null,
          tool.mode === "sync" ? el("span", { class: "chip" }, "sync") : null),
        tool.description ? el("p", { class: "faint" }, brief(tool.description, 500)) : null))),
      types.trim() === "" ? "" : el("details", { class: "types", open: true }, el("summary", {}, "Types"),
        el("pre", { class: "log", tabindex: 0 }, highlight(printable(types.slice(0, TYPES_CHARS_MAX)), isPython ? "python" : "typescript")
          .map(([kind, piece]) => kind === "plain" ? piece : el("span", { class: `t-${kind}` }, piece)))));
    this.onDocument?.(document);
  }
}
