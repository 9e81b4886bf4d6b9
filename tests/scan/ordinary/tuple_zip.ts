// Pairs of two lists.
function zip<A, B>(a: readonly A[], b: readonly B[]): [A, B][] {
  return a.slice(0, b.length).map((x, i) => [x, b[i] as B]);
}
const pairs = zip(["x", "y"] as const, [1, 2, 3]);
Object.fromEntries(pairs);
