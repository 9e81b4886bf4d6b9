/* expect: status=exception|ok limits: wall_ms=5000 */
/* The attacker wants the compiler of expressions to recurse without end. */
new RegExp("(".repeat(1e6) + "a" + ")".repeat(1e6));
1;
