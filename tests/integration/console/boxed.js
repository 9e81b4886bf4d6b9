/* Boxed primitives. */
console.log(new Number(3), new Number(-0), new String("abc"), new Boolean(false), Object(1n));
console.log([Object(Symbol("q"))], [new String("it's")]);
console.log(Object.assign(new String("abc"), { x: 1 }), Object.assign(new Number(5), { y: 2 }));
