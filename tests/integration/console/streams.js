/* Which method writes to which stream, and methods taken off the console. */
const { log, error } = console;
log("log");
console.info("info");
console.debug("debug");
error("error");
console.warn("warn %d", 5);
console.dirxml({ a: 1 }, [2]);
console.clear();
console.assert(true, "not shown");
console.assert(false);
console.assert(0, "reason %s", "given");
