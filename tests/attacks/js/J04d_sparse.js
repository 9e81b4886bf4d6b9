/* expect: status=ok value={"$array":[4294967295,[[4294967294,1]]]} limits: value_bytes=100000 */
/* The attacker wants the runtime to walk four billion holes. */
const a = [];
a[2 ** 32 - 2] = 1;
a;
