/* expect: status=exception message=real limits: wall_ms=2000 */
/* The attacker wants hooks for stacks, known from another engine, to be run here. */
Error.prepareStackTrace = () => { while (true) {} };
Error.stackTraceLimit = Infinity;
Error.captureStackTrace = () => { while (true) {} };
throw new Error("real");
