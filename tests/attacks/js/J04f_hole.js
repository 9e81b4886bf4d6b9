/* expect: status=exception name=TypeError message=hole */
/* The attacker wants a hole to cross as something that it is not. */
[1, , 3];
