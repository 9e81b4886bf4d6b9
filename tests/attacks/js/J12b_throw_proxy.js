/* expect: status=exception|wall_limit limits: wall_ms=200 */
/* The attacker wants code to run while the runtime describes what was thrown. */
throw new Proxy(function () {}, new Proxy({}, { get: () => () => { while (true) {} } }));
