// tree.js - a value as a tree that opens and closes. What is closed is not in the page yet, and long lists come
// in portions. Values that JSON has no word for have tags (docs/values.md).

import { brief, count, el } from "./dom.js";

const PORTION = 100;
const TEXT_CHARS_MAX = 2000;
const MORE_CHARS_MAX = 100_000;
const OPEN_MEMBERS_MAX = 20; // a list of up to so many is open when it is first seen
const OPEN_DEPTH = 2;

const plain = (kind, text) => el("span", { class: `v-${kind}` }, text);

function textNode(text) {
  const node = plain("string", JSON.stringify(text.length > TEXT_CHARS_MAX ? text.slice(0, TEXT_CHARS_MAX) : text));
  node.textContent = brief(node.textContent, TEXT_CHARS_MAX * 6);
  if (text.length <= TEXT_CHARS_MAX) {
    return node;
  }
  const more = el("button", {
    type: "button", class: "link",
    onclick: () => {
      node.textContent = brief(JSON.stringify(text.slice(0, MORE_CHARS_MAX)), MORE_CHARS_MAX * 6);
      more.remove();
    },
  }, `… ${count(text.length - TEXT_CHARS_MAX)} more characters`);
  return el("span", {}, node, " ", more);
}

const sizeOf64 = text => Math.floor(text.replace(/=+$/, "").length * 3 / 4);

// What a tag stands for: { shown } as a leaf, or { label, entries } as a branch; null when it is none of ours.
function tagged(tag, inner) {
  switch (tag) {
    case "$undefined":
      return { shown: plain("null", "undefined") };
    case "$number":
      return { shown: plain("number", brief(inner, 100)) };
    case "$bigint":
      return { shown: plain("number", brief(inner, TEXT_CHARS_MAX) + "n") };
    case "$date": case "$datetime": case "$day": case "$time": case "$decimal": case "$uuid": case "$url":
      return { shown: plain("date", inner === null ? "invalid date" : brief(inner, TEXT_CHARS_MAX)) };
    case "$timedelta":
      return { shown: plain("date", `${brief(inner, 100)} s`) };
    case "$function":
      return { shown: plain("given", `function ${brief(inner, 100)}`) };
    case "$complex":
      return { shown: plain("number", `${brief(inner?.[0], 100)} + ${brief(inner?.[1], 100)}i`) };
    case "$regexp":
      return { shown: plain("string", brief(`/${inner?.[0]}/${inner?.[1]}`, TEXT_CHARS_MAX)) };
    case "$map":
      return Array.isArray(inner) ? {
        label: `Map(${inner.length})`,
        entries: inner.map(pair => [brief(typeof pair?.[0] === "string" ? pair[0] : JSON.stringify(pair?.[0]), 200), pair?.[1]]),
      } : null;
    case "$set":
      return Array.isArray(inner) ? { label: `Set(${inner.length})`, entries: inner.map((v, i) => [String(i), v]) } : null;
    case "$array":
      return { label: `Array(${brief(inner?.[0], 20)}), sparse`, entries: (inner?.[1] ?? []).map(p => [String(p?.[0]), p?.[1]]) };
    case "$error":
      return { label: brief(`${inner?.name}: ${inner?.message}`, 300), entries: Object.entries(inner ?? {}) };
    case "$object":
      return { label: "", entries: Object.entries(inner ?? {}), isObject: true };
    case "$ndarray":
      return { label: `ndarray ${brief(JSON.stringify(inner?.[0]), 100)}`, entries: [["data", inner?.[1]]] };
    default:
      return typeof inner === "string" ? { shown: plain("date", `${brief(tag.slice(1), 40)}, ${count(sizeOf64(inner))} bytes`) } : null;
  }
}

function partsOf(value, isTagged) {
  if (Array.isArray(value)) {
    return { label: `Array(${count(value.length)})`, entries: value.map((v, i) => [String(i), v]), isList: true };
  }
  const entries = Object.entries(value);
  if (isTagged && entries.length === 1 && entries[0][0].startsWith("$")) {
    const parts = tagged(entries[0][0], entries[0][1]);
    if (parts !== null) {
      return parts;
    }
  }
  return { label: "", entries, isObject: true };
}

function preview(parts) {
  if (parts.entries.length === 0) {
    return parts.isList ? "[]" : parts.isObject ? "{}" : parts.label;
  }
  const names = parts.isObject ? `{ ${parts.entries.slice(0, 4).map(([k]) => brief(k, 24)).join(", ")}${parts.entries.length > 4 ? ", …" : ""} }` : "";
  return parts.label || names;
}

function portion(list, parts, isTagged, depth, from) {
  const to = Math.min(parts.entries.length, from + PORTION);
  for (const [name, value] of parts.entries.slice(from, to)) {
    list.append(el("li", {}, row(name, value, isTagged, depth)));
  }
  if (to < parts.entries.length) {
    const more = el("li", {}, el("button", {
      type: "button", class: "link",
      onclick: () => {
        more.remove();
        portion(list, parts, isTagged, depth, to);
      },
    }, `${count(parts.entries.length - to)} more`));
    list.append(more);
  }
}

function row(name, value, isTagged, depth) {
  const key = name === null ? null : el("span", { class: "v-key" }, brief(name, 200) + ": ");
  if (value === null || typeof value === "number" || typeof value === "boolean") {
    return el("span", { class: "leaf" }, key, plain(value === null ? "null" : typeof value, String(value)));
  }
  if (typeof value === "string") {
    return el("span", { class: "leaf" }, key, textNode(value));
  }
  const parts = partsOf(value, isTagged);
  if (parts.shown !== undefined) {
    return el("span", { class: "leaf" }, key, parts.shown);
  }
  if (parts.entries.length === 0) {
    return el("span", { class: "leaf" }, key, plain("null", preview(parts)));
  }
  const list = el("ul", {}), node = el("details", {}, el("summary", {}, key, plain("null", preview(parts))), list);
  const open = () => {
    if (list.firstChild === null && node.open) {
      portion(list, parts, isTagged, depth + 1, 0);
    }
  };
  node.addEventListener("toggle", open);
  if (depth < OPEN_DEPTH && parts.entries.length <= OPEN_MEMBERS_MAX) {
    node.open = true;
    open();
  }
  return node;
}

export function tree(value, format, depth = 0) {
  return el("div", { class: "tree" }, row(null, value, format === "tagged", depth));
}
