/* expect: status=exception|ok limits: wall_ms=5000 */
/* The attacker wants the parser of programs to recurse without end. */
eval("(".repeat(1e6) + "1" + ")".repeat(1e6));
1;
