// expect: js-builtin-prototype
Object.defineProperty(Object.prototype, "hacked", { value: 1 });
