/* expect: status=wall_limit limits: wall_ms=200 */
/* The attacker wants an iterator that is spread for ever by native code. */
Math.max(...{ *[Symbol.iterator]() { for (;;) { yield* []; } } });
