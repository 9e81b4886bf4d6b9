// expect: js-builtin-prototype
Object.setPrototypeOf(Array.prototype, { length: 0 });
