/* expect: status=ok value={"__proto__":{"admin":true},"a":1} */
/* The attacker wants a key that pollutes whoever parses it to be lost or to act on the way out. */
const value = JSON.parse('{"__proto__": {"admin": true}, "a": 1}');
value;
