/* expect: status=exception|ok limits: wall_ms=3000 value_bytes=100000 */
/* The attacker wants a proxy that says it has four billion members to be walked. */
new Proxy([], { get: (target, key) => key === "length" ? 2 ** 32 - 1 : 0 });
