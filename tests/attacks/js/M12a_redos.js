/* expect: status=wall_limit|ok|exception limits: wall_ms=200 */
/* The attacker wants a match of a small expression to take for ever. */
/^(a+)+$/.test("a".repeat(50) + "b");
