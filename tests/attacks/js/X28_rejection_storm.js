/* expect: status=exception limits: wall_ms=3000 */
/* The attacker wants a report for each of a hundred thousand failures. */
for (let i = 0; i < 1e5; i++) {
    Promise.reject(new Error("e" + i));
}
