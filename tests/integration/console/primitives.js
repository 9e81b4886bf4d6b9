/* Primitive values, printed bare and inside an array. */
console.log("text", 1, -0, 0.1, 1e21, NaN, Infinity, true, null, undefined, 10n, Symbol("s"));
console.log(["text", 1, -0, 0.1]);
console.log([true, null, undefined, 10n, Symbol("s"), Symbol()]);
console.log();
console.log("");
console.log([""]);
