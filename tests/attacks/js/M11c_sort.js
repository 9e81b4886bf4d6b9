/* expect: status=wall_limit limits: wall_ms=200 */
/* The attacker wants a native sort, which no check interrupts, to hold the processor. */
new Array(1e6).fill(0).map((_, i) => (i * 7919) % 1000003).sort(() => { for (let i = 0; i < 1000; i++); return 1; });
for (;;) {
    new Array(1e6).fill(0).sort(() => -1);
}
