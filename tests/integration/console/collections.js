/* Map, Set, and their subclasses. */
console.log(new Map([["a", 1], ["b", { c: [1, 2] }]]), new Map());
console.log(new Set([1, "two", [3], { four: 4 }]), new Set());
console.log(new Map([[{ key: 1 }, new Map([[1, new Map([[2, new Map([[3, 4]])]])]])]]));
class Registry extends Map {}
console.log(new Registry([["k", "v"]]));
console.log(Object.assign(new Set([1]), { extra: true }));
console.log(new WeakMap(), new WeakSet());
console.log({ deep: { er: { map: new Map([[1, 2]]), set: new Set([1]), none: new Map() } } });
console.log(new Map(Array.from({ length: 5 }, (_, i) => ["key number " + i, "value number " + i])));
