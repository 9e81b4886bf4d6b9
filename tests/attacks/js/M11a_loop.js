/* expect: status=wall_limit limits: wall_ms=200 */
/* The attacker wants a processor for ever. */
while (true) {}
