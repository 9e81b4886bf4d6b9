/* expect: status=ok value=["console","setTimeout","undefined"] limits: wall_ms=1000 */
/* The attacker wants to see the names that the runtime uses inside, through a with around its own code. */
const seen = [];
with (new Proxy({}, { has(target, key) { seen.push(String(key)); return false; } })) {
    console.log({ a: [1] });
    setTimeout(() => {}, 0);
    undefined;
}
seen;
