/* expect: status=exception|wall_limit limits: wall_ms=200 */
/* The attacker wants the runtime to run its getter while it describes an error. */
const error = new Error("x");
for (const key of ["stack", "message", "name", "cause", "line", "column", "constructor"]) {
    Object.defineProperty(error, key, { get() { while (true) {} } });
}
throw error;
