// What changed between two tables.
const before = new Map([["a", 1], ["b", 2]]);
const after = new Map([["b", 3], ["c", 4]]);
const added = [...after.keys()].filter((k) => !before.has(k));
const removed = [...before.keys()].filter((k) => !after.has(k));
const changed = [...after].filter(([k, v]) => before.has(k) && before.get(k) !== v).map(([k]) => k);
({ added, removed, changed });
