/* expect: status=exception name=DeadlockError limits: wall_ms=2000 */
/* The attacker wants to hold a cell for its whole time without using any processor. */
await new Promise(() => {});
