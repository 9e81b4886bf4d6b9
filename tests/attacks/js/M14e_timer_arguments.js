/* expect: status=memory_limit|exception limits: memory_mb=32 wall_ms=5000 */
/* The attacker wants memory that hides in the arguments of timers that wait. */
for (let i = 0; i < 5000; i++) {
    setTimeout(() => {}, 1e8, new Uint8Array(1 << 20).fill(1));
}
