// expect: js-constructor-chain
const p = ({}).constructor.constructor("return process")();
p.exit(0);
