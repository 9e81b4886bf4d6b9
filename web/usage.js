// usage.js - what a run took, beside what it was allowed, and beside the runs before it. Drawn as SVG by hand.

import { bytes, duration, el, svg } from "./dom.js";

const WIDTH = 200, BAR = 6, LINE_HEIGHT = 34;

function gauge(label, used, max, format) {
  const part = max > 0 ? Math.min(1, used / max) : 0;
  return el("div", { class: "gauge" },
    el("span", { class: "label" }, label),
    el("span", { class: "number" }, format(used)),
    svg("svg", { viewBox: `0 0 ${WIDTH} ${BAR}`, preserveAspectRatio: "none", class: "meter", role: "img",
      "aria-label": `${label}: ${format(used)}${max > 0 ? ` of ${format(max)}` : ""}` },
    svg("rect", { width: WIDTH, height: BAR, class: "meter-all" }),
    svg("rect", { width: Math.max(part > 0 ? 2 : 0, part * WIDTH), height: BAR, class: "meter-used", "data-tone": part >= 0.9 ? "bad" : part >= 0.6 ? "warn" : "good" })),
    el("span", { class: "faint" }, max > 0 ? `of ${format(max)}` : ""));
}

// Where the time went, from the request to its result. host_us has the queue in it; what the guest's own time
// has beside computing is waiting: for timers, for tools.
function split(usage) {
  const of = name => usage[name] ?? 0, computing = Math.min(of("cpu_us"), of("wall_us"));
  const seen = [
    ["computing", computing, "cpu"],
    ["waiting", of("wall_us") - computing, "host"],
    ["approval", of("approval_us"), "approval"],
    ["queue", of("queue_us"), "queue"],
    ["around it", Math.max(0, of("host_us") - of("queue_us")), "rest"],
  ].filter(part => part[1] > 0);
  const all = seen.reduce((sum, part) => sum + part[1], 0) || 1;
  let x = 0;
  return el("div", { class: "split" },
    svg("svg", { viewBox: `0 0 ${WIDTH} ${BAR}`, preserveAspectRatio: "none", class: "meter", role: "img",
      "aria-label": "Where the time went: " + seen.map(part => `${part[0]} ${duration(part[1])}`).join(", ") },
    seen.map(([, us, kind]) => {
      const width = us / all * WIDTH, rect = svg("rect", { x, width, height: BAR, class: `part-${kind}` });
      x += width;
      return rect;
    })),
    el("div", { class: "legend" }, seen.map(([name, us, kind]) =>
      el("span", {}, el("i", { class: `dot part-${kind}` }), `${name} ${duration(us)}`))));
}

// The wall times of the runs before, oldest first; the last is this one.
function past(times) {
  const max = Math.max(...times, 1), step = WIDTH / 40;
  return el("div", { class: "past" },
    svg("svg", { viewBox: `0 0 ${WIDTH} ${LINE_HEIGHT}`, preserveAspectRatio: "none", class: "bars", role: "img",
      "aria-label": `Wall times of the last ${times.length} runs of this browser` },
    times.map((us, i) => {
      const height = Math.max(1.5, us / max * LINE_HEIGHT);
      return svg("rect", { x: i * step, y: LINE_HEIGHT - height, width: step * 0.72, height, class: i === times.length - 1 ? "part-cpu" : "part-rest" });
    })),
    el("span", { class: "faint" }, `last ${times.length} runs, up to ${duration(max)}`));
}

export function usagePane(result, times) {
  const usage = result.usage, limits = result.limits ?? {};
  if (!usage) {
    return null;
  }
  return el("section", { class: "pane", "data-pane": "usage" },
    el("div", { class: "pane-head" }, el("h3", {}, "Usage"), el("span", { class: "space" }),
      el("span", { class: "faint" }, result.isolation?.level ? `isolation: ${String(result.isolation.level)}` : "")),
    el("div", { class: "gauges" },
      gauge("Time", usage.wall_us ?? 0, (limits.wall_ms_max ?? 0) * 1000, duration),
      gauge("Processor", usage.cpu_us ?? 0, (limits.cpu_ms_max ?? 0) * 1000, duration),
      gauge("Memory", usage.memory_bytes_peak ?? 0, limits.memory_bytes_max ?? 0, bytes)),
    split(usage), times.length > 2 ? past(times.slice(-40)) : null);
}
