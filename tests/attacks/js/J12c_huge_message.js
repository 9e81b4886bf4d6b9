/* expect: status=exception name=Error limits: memory_mb=256 wall_ms=5000 */
/* The attacker wants a message of sixty million characters in a log. */
throw new Error("x".repeat(60e6));
