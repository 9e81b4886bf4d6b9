/* expect: status=ok value=[9007199254740992,5e-324,1.7976931348623157e+308,0.1,1] */
/* The attacker wants edge numbers to change on their way, or wrapped ones to pass for others. */
[2 ** 53 + 1, 5e-324, Number.MAX_VALUE, 0.1, new Number(1)];
