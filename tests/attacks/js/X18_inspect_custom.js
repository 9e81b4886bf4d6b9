/* expect: status=wall_limit limits: wall_ms=200 */
/* The attacker wants its own inspect method to hold the console, which is the runtime's code. */
console.log({ [Symbol.for("nodejs.util.inspect.custom")]() { while (true) {} } });
