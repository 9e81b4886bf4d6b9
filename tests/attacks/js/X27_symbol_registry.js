/* expect: status=memory_limit|wall_limit|exception limits: memory_mb=32 wall_ms=5000 */
/* The attacker wants memory that is never collected: names of symbols and properties. */
const all = {};
for (let i = 0; ; i++) {
    Symbol.for("name" + i);
    all["property" + i] = Symbol.for("x" + i).description;
}
