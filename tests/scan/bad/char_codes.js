// expect: js-char-codes
const name = String.fromCharCode(99, 104, 105, 108, 100, 95, 112, 114);
console.log(name);
