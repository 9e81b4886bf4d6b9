/* What cannot or shall not look as in Node.
 *
 * Differs from Node 20: see the comment of each line. */
/* The engine does not reveal what a promise has come to. */
console.log(Promise.resolve(4), [new Promise(() => {})]);
/* Nor can it look into an iterator without moving it. */
console.log(new Map([[1, 2]]).entries(), new Set([5]).values());
/* Getters are never run, not even those for a tag. */
console.log(new (class Foo { get [Symbol.toStringTag]() { return "bar"; } })());
/* Node prints [object Object] here. */
console.assert(false, { a: 1 });
/* Warnings do not name a process. */
console.countReset("missing");
console.timeEnd("missing");
/* An inspect method that throws does not make printing fail. */
console.log([{ [Symbol.for("nodejs.util.inspect.custom")]() { throw new TypeError("no"); } }]);
