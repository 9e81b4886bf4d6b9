/* expect: status=memory_limit|exception|output_limit|wall_limit limits: memory_mb=32 wall_ms=2000 */
/* The attacker wants the console to remember a million names for it. */
for (let i = 0; ; i++) {
    console.time("label" + i + "x".repeat(1000));
}
