/* expect: status=exception name=TypeError message=-0 */
/* The attacker wants minus zero to arrive as zero. */
[-0];
