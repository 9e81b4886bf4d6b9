// expect: js-eval
const total = eval("1 + 2 * 3");
console.log(total);
