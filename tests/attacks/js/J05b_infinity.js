/* expect: status=ok value=[1,{"$number":"-Infinity"}] */
/* The attacker wants infinity to become null without a word. */
[1, -1 / 0];
