/* expect: status=exception name=AggregateError limits: wall_ms=3000 */
/* The attacker wants a hundred thousand errors in one to be written out. */
throw new AggregateError(Array.from({ length: 1e5 }, (_, i) => new Error("e" + i)), "many");
