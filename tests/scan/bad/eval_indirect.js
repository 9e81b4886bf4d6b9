// expect: js-eval
const run = (text) => (0, eval)(text);
run("globalThis.x = 1");
