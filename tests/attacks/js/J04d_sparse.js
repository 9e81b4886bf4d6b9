/* expect: status=exception limits: value_bytes=100000 */
/* The attacker wants the runtime to walk four billion holes. */
const a = [];
a[2 ** 32 - 2] = 1;
a;
