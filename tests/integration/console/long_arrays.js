/* Only the first 100 elements are shown. */
console.log(new Array(101).fill("x"));
console.log(new Array(250).fill(0).map((_, i) => ({ i })).slice(0, 103));
console.log(new Set(Array.from({ length: 102 }, (_, i) => i)));
console.log(new Map(Array.from({ length: 101 }, (_, i) => [i, i])));
