/* expect: status=ok value={"$array":[3,[[0,1],[2,3]]]} */
/* The attacker wants a hole to cross as something that it is not. */
[1, , 3];
