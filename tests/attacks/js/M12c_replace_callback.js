/* expect: status=wall_limit limits: wall_ms=200 */
/* The attacker wants native code that calls back for every character of a long text. */
const text = "a".repeat(1e6);
for (;;) {
    text.replace(/a/g, () => "b");
}
