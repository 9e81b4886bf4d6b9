// expect: js-eval
const name = "x";
globalThis.eval(`var ${name} = 2`);
