/* expect: status=exception|memory_limit limits: memory_mb=64 wall_ms=8000 */
/* The attacker wants a text that grows by the square, by a replacement that names the whole match twice. */
let text = "a".repeat(1000);
for (;;) {
    text = text.replace(/[^]*/, "$&$&");
}
