// expect: js-constructor-chain
const f = ""["constructor"]["constructor"];
f("return 1")();
