// Merges objects, and refuses keys that change prototypes.
function merge(target, source) {
  for (const [key, value] of Object.entries(source)) {
    if (key === "constructor" || key === "prototype") continue;
    if (value && typeof value === "object" && !Array.isArray(value)) {
      target[key] = merge(target[key] ?? {}, value);
    } else {
      target[key] = value;
    }
  }
  return target;
}
merge({ a: { b: 1 } }, { a: { c: 2 }, d: [3] });
