/* expect: status=exception name=TypeError message=NaN */
/* The attacker wants a number that JSON lacks to become null without a word. */
({ total: 0 / 0 });
