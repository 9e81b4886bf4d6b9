/* expect: status=exception name=RangeError limits: wall_ms=5000 */
/* The attacker wants native code to recurse through a nested array of arrays. */
let list = [1];
for (let i = 0; i < 1e6; i++) {
    list = [list];
}
String(list);
1;
