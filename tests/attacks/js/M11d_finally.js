/* expect: status=wall_limit limits: wall_ms=200 */
/* The attacker wants to go on after it was ended, by catching whatever ends it. */
for (;;) {
    try {
        for (;;) {
            try {
                for (;;) {}
            } finally {
                continue;
            }
        }
    } catch {
        continue;
    }
}
