/* expect: status=exception|wall_limit limits: wall_ms=200 */
/* The attacker wants its toString to be called, and never to return. */
throw { toString() { while (true) {} }, valueOf() { while (true) {} }, [Symbol.toPrimitive]() { while (true) {} } };
