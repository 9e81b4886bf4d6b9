/* expect: status=exception|ok limits: wall_ms=1000 */
/* The attacker wants the runtime to await an object whose then calls back for ever. */
const value = { then(resolve) { resolve(this); } };
__return(value);
