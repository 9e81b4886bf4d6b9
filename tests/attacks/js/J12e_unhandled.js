/* expect: status=exception message=nobody_cares */
/* The attacker wants a failure that nobody awaits to pass as success. */
Promise.reject(new Error("nobody cares"));
1;
