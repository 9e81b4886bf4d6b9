/* console.dir takes options and ignores an object's own inspect method. */
const deep = { a: { b: { c: { d: { e: 1 } } } } };
console.dir(deep);
console.dir(deep, { depth: 0 });
console.dir(deep, { depth: null });
console.dir({ [Symbol.for("nodejs.util.inspect.custom")]() { return "custom"; } }.a);
console.dir([1, 2, 3, 4], { maxArrayLength: 2 });
console.dir(["abcdefghij"], { maxStringLength: 4 });
console.dir({ a: "x".repeat(50), b: "y".repeat(50) }, { breakLength: Infinity });
console.dir([1], { showHidden: true });
