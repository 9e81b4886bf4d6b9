/* expect: status=ok value={"total":{"$number":"NaN"}} */
/* The attacker wants a number that JSON lacks to become null without a word. */
({ total: 0 / 0 });
