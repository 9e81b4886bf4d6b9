/* expect: status=wall_limit|output_limit limits: wall_ms=200 */
/* The attacker wants the host to be so busy with single characters that it forgets the clock. */
for (;;) {
    console.log("");
}
