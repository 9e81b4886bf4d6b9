/* expect: status=ok value="RangeError" limits: wall_ms=5000 */
/* The attacker wants a million timers to wait at once. */
let name = "none";
try {
    for (let i = 0; i < 1e6; i++) {
        setTimeout(() => {}, 1e8);
    }
} catch (error) {
    name = error.name;
}
__return(name);
