/* expect: status=ok value=[[2,4],0] */
/* The attacker wants arrays of the runtime to be made by the attacker, by Symbol.species. */
let made = 0;
Object.defineProperty(Array, Symbol.species, { get() { made++; return Object; } });
const before = made;
console.log([1, 2], new Map([[1, [2]]]), new Set([3]));
console.table([{ a: 1 }, { a: 2 }]);
const during = made - before;
Object.defineProperty(Array, Symbol.species, { get: () => Array });
[[1, 2].map((x) => x * 2), during];
