/* Functions and classes. */
console.log(function named() {}, () => {}, async () => {});
console.log(function* gen() {}, async function* agen() {});
console.log(class {}, class A {}, class B extends Map {}, class C extends Array {});
console.log({ method() {}, arrow: () => {}, klass: class {}, [Symbol.iterator]() {} });
console.log(Object.assign(() => {}, { a: 1 }), Object.assign(function f() {}, { b: { c: 1 } }));
console.log(Math.max, Map, Symbol, parseInt);
class Counter { static count = 3; static next() {} }
console.log(Counter, Counter.next, new Counter().constructor);
console.log(Object.setPrototypeOf(function bare() {}, null));
