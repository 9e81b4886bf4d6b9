/* expect: status=output_limit dropped=1 limits: stdout_bytes=65536 wall_ms=8000 */
/* The attacker wants the host to keep ten gigabytes of output. */
const line = "x".repeat(65536);
for (;;) {
    console.log(line);
}
