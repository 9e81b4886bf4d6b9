/* console.count and countReset. */
console.count();
console.count("x");
console.count();
console.countReset();
console.count();
console.count(undefined);
console.count(null);
console.count(5);
