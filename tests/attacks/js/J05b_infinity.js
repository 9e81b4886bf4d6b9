/* expect: status=exception name=TypeError message=Infinity */
/* The attacker wants infinity to become null without a word. */
[1, -1 / 0];
