/* expect: status=ok value="ok" limits: wall_ms=3000 */
/* The attacker wants callbacks of the collector to run after its end. */
const registry = new FinalizationRegistry(() => { while (true) {} });
for (let i = 0; i < 1e5; i++) {
    registry.register({ i }, i);
    new WeakRef({ i });
}
"ok";
