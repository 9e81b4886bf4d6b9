/* Arrays of more than six short elements are set in columns. */
const upTo = (n, f) => Array.from({ length: n }, (_, i) => f(i));
console.log(upTo(6, (i) => i));
console.log(upTo(7, (i) => i));
console.log(upTo(27, (i) => i * i * 7));
console.log(upTo(100, (i) => i));
console.log(upTo(101, (i) => i));
console.log(upTo(120, (i) => i % 2 ? 1.5 : -i));
console.log(upTo(10, (i) => BigInt(i) ** 3n));
