/* expect: status=exception name=TypeError message=Date */
/* The attacker wants a date that is none to become null. */
new Date(NaN);
