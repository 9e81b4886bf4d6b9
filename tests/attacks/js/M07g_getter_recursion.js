/* expect: status=exception|ok limits: wall_ms=5000 */
/* The attacker wants the inspector to recurse into objects that are made while it looks. */
function make() {
    return { get next() { return make(); } };
}
const depth = { next: null };
let at = depth;
for (let i = 0; i < 1e5; i++) {
    at.next = { next: null };
    at = at.next;
}
console.log(make(), depth);
console.dir(depth, { depth: Infinity });
1;
