// expect: js-char-codes
const word = [114, 101, 113, 117, 105, 114, 101].map((c) => String.fromCharCode(c)).join("");
globalThis[word];
