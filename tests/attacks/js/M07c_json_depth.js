/* expect: status=exception|ok|memory_limit limits: wall_ms=5000 */
/* The attacker wants the parser of the engine to recurse without end. */
JSON.parse("[".repeat(5e6) + "]".repeat(5e6));
1;
