// expect: js-hidden-text
const r = \u0065val("1");
