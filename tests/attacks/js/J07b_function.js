/* expect: status=exception name=TypeError message=function */
/* The attacker wants code to cross as data. */
({ f() {} });
