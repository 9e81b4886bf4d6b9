/* console.table in all its forms. */
console.table([{ a: 1, b: "x" }, { a: 2, c: true }]);
console.table([1, "a", { x: 1 }]);
console.table([[1, 2], [3, 4]]);
console.table(new Map([["a", 1], ["b", { x: 1 }]]));
console.table(new Set([1]));
console.table({ r1: { c: 1 }, r2: { c: 2, d: { q: 1 } } });
console.table([{ a: 1, b: 2 }], ["b"]);
console.table([{ a: 1 }], ["z"]);
console.table([]);
console.table([{ a: [1, 2, 3, 4, 5] }, { a: { x: 1, y: 2, z: 3 } }, { a: () => 1 }]);
console.table(["日本", "x"]);
console.table(new Uint8Array([1, 2]));
console.table(5);
console.table(null);
console.table("text");
