/* expect: status=exception name=TypeError message=symbol */
/* The attacker wants a symbol to pass as nothing. */
({ s: Symbol("x") });
