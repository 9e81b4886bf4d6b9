/* expect: status=ok value={"id":{"$bigint":"18446744073709551617"}} */
/* The attacker wants a large integer to lose digits on its way. */
({ id: 2n ** 64n + 1n });
