/* Groups indent what follows, on both streams. */
console.group("outer %s", "label");
console.log("one\ntwo");
console.group();
console.warn("warned");
console.log({ a: "x".repeat(40), b: "y".repeat(40) });
console.groupEnd();
console.groupCollapsed("collapsed");
console.info("info");
console.groupEnd();
console.groupEnd();
console.groupEnd();
console.log("out");
