/* expect: status=exception message=null */
/* The attacker wants the runtime to trip over an error that is none. */
throw null;
