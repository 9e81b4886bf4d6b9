/* Holes are counted, and names on arrays are shown. */
console.log([, 1, , , 2, ,]);
console.log(new Array(5));
console.log(Object.assign([1, 2], { name: "x", "a-b": 1, [Symbol("z")]: 3 }));
const far = [];
far[4294967294] = 1;
console.log(far);
const mixed = [1, 2, 3];
mixed[150] = 4;
mixed.extra = true;
console.log(mixed);
console.log("abc".match(/b/));
