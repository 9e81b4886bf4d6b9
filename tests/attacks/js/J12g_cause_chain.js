/* expect: status=exception limits: wall_ms=3000 */
/* The attacker wants a chain of a hundred thousand causes to be written out. */
let error = new Error("0");
for (let i = 1; i < 1e5; i++) {
    error = new Error(String(i), { cause: error });
}
throw error;
