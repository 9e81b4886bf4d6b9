// expect: js-slow-regex
const ok = /^(a+)+$/.test("aaaaaaaaaaaaaaaaaaaaaaaaaaaa!");
