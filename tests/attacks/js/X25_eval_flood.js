/* expect: status=ok|memory_limit|wall_limit|cpu_limit|exception limits: memory_mb=64 wall_ms=200 */
/* The attacker wants the engine to keep the code of a hundred thousand functions. */
for (let i = 0; i < 1e5; i++) {
    Function("a", `return a + ${i} + ${"a +".repeat(50)} 1`)(i);
}
1;
