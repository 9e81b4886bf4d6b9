/* expect: status=exception name=RangeError limits: wall_ms=3000 value_bytes=1000000 */
/* The attacker wants a small graph of shared objects to become a terabyte of text. */
let value = ["xxxxxxxxxxxxxxxxxxxx"];
for (let i = 0; i < 40; i++) {
    value = [value, value];
}
value;
