// expect: js-function-constructor
const all = [].filter.constructor("return this")();
Object.keys(all);
