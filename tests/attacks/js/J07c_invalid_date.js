/* expect: status=ok value={"$date":null} */
/* The attacker wants a date that is none to become null. */
new Date(NaN);
