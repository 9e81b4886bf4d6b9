/* How property names are written. */
console.log({ a: 1, b_c: 2, _d: 3, A9: 4 });
console.log({ "a-b": 1, $x: 2, "é": 3, "": 4, 2: 5, "1a": 6 });
console.log({ [Symbol("s p")]: 1, [Symbol()]: 2, [Symbol.iterator]: 3 });
console.log(JSON.parse('{"__proto__":1}'));
console.log(Object.defineProperty({ seen: 1 }, "hidden", { value: 2 }));
