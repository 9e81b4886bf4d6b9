/* expect: status=wall_limit|exception limits: wall_ms=200 */
/* The attacker wants one multiplication of the engine to last for minutes. */
let n = 3n ** 200000n;
for (;;) {
    n = n * n;
}
