// artifacts.js - what a program showed. Nobody has looked into these bytes: images go into <img>, where nothing
// runs, pages into a frame that may run nothing, load nothing and reach nothing, the rest is text.

import { brief, bytes, el, save } from "./dom.js";
import { tree } from "./tree.js";

const TEXT_CHARS_MAX = 20_000;
const HTML_CHARS_MAX = 2_000_000;
const FRAME_PX_MIN = 64;
const FRAME_PX_MAX = 420;
const ROW_PX = 25;
const SHOWN_MAX = 100;
const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml"];
const BEST = [...IMAGES, "text/html", "application/json", "text/markdown", "text/plain"];

function bytesOf(shown) {
  if (typeof shown.text === "string") {
    return new TextEncoder().encode(shown.text);
  }
  const binary = atob(shown.base64 ?? "");
  return Uint8Array.from(binary, c => c.charCodeAt(0));
}

const textOf = shown => typeof shown.text === "string" ? shown.text : new TextDecoder().decode(bytesOf(shown));

// The policy has no word about connections that a page only announces (<link rel=preconnect>), so what could
// announce one is text; a tag begins with these letters and in no other way.
const REFUSED = /<(?=(?:link|meta|base|i?frame|frameset|object|embed|script|form)\b)/gi;

// The frame has the page's own sheet, which is the only one that its policy lets it have.
function frameOf(shown, urls) {
  const html = textOf(shown).slice(0, HTML_CHARS_MAX).replace(REFUSED, "&lt;");
  const sheet = document.querySelector("style").textContent;
  const url = URL.createObjectURL(new Blob(
    ["<!doctype html><meta charset=utf-8><style>", sheet, "</style><body class=guest>", html], { type: "text/html" }));
  const rows = (html.match(/<(?:tr|p|h\d|li|br|div)\b/gi) ?? []).length;
  const frame = el("iframe", { sandbox: "", referrerpolicy: "no-referrer", title: "What the program showed", class: "frame" });
  urls.push(url);
  frame.style.height = `${Math.min(FRAME_PX_MAX, Math.max(FRAME_PX_MIN, 20 + rows * ROW_PX))}px`;
  frame.src = url;
  return frame;
}

function imageOf(shown, name, urls) {
  const url = URL.createObjectURL(new Blob([bytesOf(shown)], { type: shown.mime }));
  const image = el("img", { alt: name, class: "shown" });
  urls.push(url);
  image.addEventListener("error", () => image.replaceWith(el("p", { class: "notice" }, `This is not an image of the type ${shown.mime}.`)));
  image.src = url;
  return image;
}

function draw(shown, name, urls) {
  if (IMAGES.includes(shown.mime)) {
    return imageOf(shown, name, urls);
  }
  if (shown.mime === "text/html") {
    return frameOf(shown, urls);
  }
  if (shown.mime === "application/json") {
    try {
      return tree(JSON.parse(textOf(shown)), "json");
    } catch {
      // then it is text
    }
  }
  if (typeof shown.text === "string") {
    return el("pre", { class: "log" }, brief(shown.text, TEXT_CHARS_MAX));
  }
  return el("p", { class: "notice" }, `${shown.mime}: this page cannot show it, but it can be saved.`);
}

const ENDINGS = { "image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp", "image/svg+xml": "svg",
  "text/html": "html", "application/json": "json", "text/markdown": "md", "text/plain": "txt", "application/pdf": "pdf" };

function card(artifact, index, urls) {
  const list = artifact.representations ?? [], name = artifact.name ? brief(artifact.name, 80) : `artifact ${index + 1}`;
  const rank = mime => (BEST.indexOf(mime) + BEST.length + 1) % (BEST.length + 1);
  const best = [...list].sort((a, b) => rank(a.mime) - rank(b.mime))[0];
  const body = el("div", { class: "shown-body" });
  const show = shown => body.replaceChildren(draw(shown, name, urls));
  const picks = list.length < 2 ? null : el("select", {
    "aria-label": `Form of ${name}`, class: "tiny",
    onchange: event => show(list[Number(event.target.value)]),
  }, list.map((shown, i) => el("option", { value: i, selected: shown === best }, shown.mime)));
  const saveNow = () => {
    const shown = list[picks === null ? 0 : Number(picks.value)];
    save(`artifact-${index + 1}.${ENDINGS[shown.mime] ?? "bin"}`, [bytesOf(shown)], "application/octet-stream");
  };

  if (best === undefined) {
    return null;
  }
  show(best);
  return el("figure", { class: "artifact" },
    el("figcaption", {}, el("span", { class: "cut" }, name), el("span", { class: "space" }),
      el("span", { class: "faint" }, `${list.length < 2 ? best.mime + ", " : ""}${bytes(best.bytes ?? 0)}`), picks,
      el("button", { type: "button", class: "link", onclick: saveNow }, "Save")),
    body);
}

// urls takes what has to be let go when the artifacts are not shown any more.
export function artifactsPane(result, urls) {
  const list = result.artifacts ?? [], more = (result.artifacts_dropped ?? 0) + Math.max(0, list.length - SHOWN_MAX);
  if (list.length === 0 && more === 0) {
    return null;
  }
  return el("section", { class: "pane", "data-pane": "artifacts" },
    el("div", { class: "pane-head" }, el("h3", {}, "Shown"), el("span", { class: "space" }),
      el("span", { class: "faint" }, String(list.length))),
    list.slice(0, SHOWN_MAX).map((artifact, i) => card(artifact, i, urls)),
    more > 0 ? el("p", { class: "notice" }, `${more} more were too many or too large.`) : null);
}
