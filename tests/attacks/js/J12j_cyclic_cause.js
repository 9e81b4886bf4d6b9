/* expect: status=exception name=Error limits: wall_ms=2000 */
/* The attacker wants the runtime to follow an error that is its own cause. */
const error = new Error("x");
error.cause = error;
Object.setPrototypeOf(error, new Proxy(Error.prototype, {}));
throw error;
