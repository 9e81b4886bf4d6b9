/* expect: status=exception message=nested_deeper */
/* The attacker wants to overflow the host's stack with a value of a million levels. */
let value = 0;
for (let i = 0; i < 1e6; i++) {
    value = [value];
}
value;
