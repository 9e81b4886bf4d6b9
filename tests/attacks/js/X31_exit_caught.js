/* expect: status=ok limits: wall_ms=2000 */
/* The attacker wants to go on after the end. */
function again() {
    try {
        process.exit(3);
    } catch {
        again();
    } finally {
        for (;;);
    }
}
again();
