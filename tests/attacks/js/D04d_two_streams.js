/* expect: status=output_limit|wall_limit limits: stdout_bytes=1024 wall_ms=3000 */
/* The attacker wants to pass the limit of one stream by using two in turn. */
for (;;) {
    console.log("a".repeat(1000));
    console.error("b".repeat(1000));
}
