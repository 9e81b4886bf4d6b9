/* expect: status=exception|memory_limit limits: memory_mb=64 wall_ms=5000 */
/* The attacker wants a rope that is flattened into gigabytes. */
let text = "abcdefgh";
for (let i = 0; i < 40; i++) {
    text += text;
}
text.indexOf("z");
