/* expect: status=ok value=true limits: wall_ms=5000 */
/* The attacker wants the runtime to run at the very end of the stack, and to fail there halfway. */
let calls = 0;
function f() {
    try {
        f();
    } catch {
        if (calls++ < 200) {
            try {
                setTimeout(() => {}, 0);
                console.log({ a: { b: { c: [1, 2, { d: 1 }] } } });
            } catch {
                /* there is no room even for that */
            }
        }
    }
}
f();
calls > 0;
