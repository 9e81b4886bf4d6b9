/* expect: status=ok value=[{"$number":"-0"}] */
/* The attacker wants minus zero to arrive as zero. */
[-0];
