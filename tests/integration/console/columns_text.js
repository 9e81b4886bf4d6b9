/* Columns of strings are aligned left; wide elements prevent columns. */
const words = "the quick brown fox jumps over the lazy dog and runs away again".split(" ");
console.log(words);
console.log(words.concat(["a".repeat(40)]));
console.log(words.map((w) => [w]));
console.log(words.map((w) => ({ w })));
console.log({ nested: { words } });
console.log(["日本語", "中文", "한국어", "a", "bb", "ccc", "dddd", "eeeee"]);
console.log([true, false, null, undefined, 1, "x", 2n, Symbol("y")]);
