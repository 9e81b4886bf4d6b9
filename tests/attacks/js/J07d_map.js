/* expect: status=ok value={"$map":[["a",1]]} */
/* The attacker wants a map full of things to arrive as an empty object. */
new Map([["a", 1]]);
