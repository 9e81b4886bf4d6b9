/* expect: status=exception name=TypeError message=cycle */
/* The attacker wants the host to follow a value for ever. */
const a = {};
a.self = a;
a;
