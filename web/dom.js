// dom.js - makes elements. Text becomes text nodes and nothing else: the page's policy forbids whatever
// would read markup out of a string, and this file has nothing that would.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) {
      continue;
    }
    if (name.startsWith("on")) {
      node.addEventListener(name.slice(2), value);
    } else {
      node.setAttribute(name, value === true ? "" : String(value));
    }
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) {
      node.append(child);
    }
  }
  return node;
}

export function el(tag, props, ...children) {
  return fill(document.createElement(tag), props, children);
}

export function svg(tag, props, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

export const byId = id => document.getElementById(id);

// Guests, and those who name tools, may write anything. Characters that a terminal would obey, that turn the
// direction of text around or that cannot be seen become visible ones; line ends and tabs stay.
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff]/g;

function visible(c) {
  const code = c.charCodeAt(0); // as terminals write it: ^[ is Escape; few fonts have the pictures for these
  return code < 0x20 || code === 0x7f ? "^" + String.fromCharCode(code ^ 0x40)
    : `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}

export function printable(text) {
  return String(text).replaceAll("\r\n", "\n").replace(UNSEEN, visible);
}

// The same, with an end: what is cut off is said.
export function brief(text, max) {
  const whole = String(text);
  return whole.length <= max ? printable(whole)
    : printable(whole.slice(0, max)) + `… ${count(whole.length - max)} more characters`;
}

export const count = n => Number(n).toLocaleString("en-GB");

export function bytes(n) {
  const units = ["B", "KiB", "MiB", "GiB"];
  let at = 0;
  while (n >= 1024 && at < units.length - 1) {
    n /= 1024;
    at++;
  }
  return `${at === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)} ${units[at]}`;
}

export function duration(us) {
  if (us < 1000) {
    return `${Math.round(us)} µs`;
  }
  if (us < 1e6) {
    return `${us < 1e5 ? (us / 1000).toFixed(1) : Math.round(us / 1000)} ms`;
  }
  return us < 6e7 ? `${(us / 1e6).toFixed(us < 1e7 ? 2 : 1)} s` : `${(us / 6e7).toFixed(1)} min`;
}

// Gives bytes of a guest to the one who asks for them. Links to what was made so are let go after a while.
const LINK_MS = 60_000;

export function save(name, parts, type) {
  const url = URL.createObjectURL(new Blob(parts, { type }));
  const link = el("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), LINK_MS);
}

export function icon(name) {
  const paths = {
    good: "M3 8.5 6.5 12 13 4.5",
    bad: "M4 4l8 8M12 4l-8 8",
  };
  return svg("svg", { viewBox: "0 0 16 16", width: 12, height: 12, "aria-hidden": "true", class: "icon" },
    svg("path", { d: paths[name], fill: "none", stroke: "currentColor", "stroke-width": 2 }));
}
