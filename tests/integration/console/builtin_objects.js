/* Namespaces, generators, iterators and prototypes of the language. */
console.log(Math, JSON, Reflect, Intl);
console.log((function* () {})(), (async function* () {})());
console.log([][Symbol.iterator](), "x"[Symbol.iterator](), "abc".matchAll(/b/g));
console.log(Map.prototype, Date.prototype, Object.prototype, Error.prototype, RegExp.prototype);
console.log(Object.create(Map.prototype), Object.create(Date.prototype));
console.log(Object.create(Array.prototype));
console.log((function () { return arguments; })(1, "two"));
console.log(Object.setPrototypeOf([1], null));
console.log([new WeakRef({ a: 1 })]);
