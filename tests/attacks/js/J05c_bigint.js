/* expect: status=exception name=TypeError message=BigInt */
/* The attacker wants a large integer to lose digits on its way. */
({ id: 2n ** 64n + 1n });
