/* When an object is broken into lines: at 72 columns of content, or four levels. */
for (let width = 20; width < 40; width += 3) {
    console.log({ a: "x".repeat(30), b: "y".repeat(width) });
}
console.log({ a: 1, b: { c: 2, d: { e: 3 } } });
console.log({ a: { b: { c: { d: 1 } } }, e: 1 });
console.log([{ id: 1, name: "first" }, { id: 2, name: "second" }, { id: 3, name: "third" }]);
console.log({ list: [{ a: [1, { b: 2 }] }], other: { deep: { deeper: { deepest: 1 } } } });
