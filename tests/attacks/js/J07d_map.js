/* expect: status=exception name=TypeError message=Map */
/* The attacker wants a map full of things to arrive as an empty object. */
new Map([["a", 1]]);
