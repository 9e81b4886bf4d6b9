// The shortest way through a graph.
const graph = { a: ["b", "c"], b: ["d"], c: ["d"], d: ["e"], e: [] };
function path(from, to) {
  const queue = [[from]];
  const seen = new Set([from]);
  while (queue.length) {
    const way = queue.shift();
    const last = way.at(-1);
    if (last === to) return way;
    for (const next of graph[last]) {
      if (!seen.has(next)) { seen.add(next); queue.push([...way, next]); }
    }
  }
  return null;
}
path("a", "e");
