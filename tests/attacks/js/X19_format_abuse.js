/* expect: status=ok value=1 limits: wall_ms=4000 */
/* The attacker wants the formatter to work for ever on a format of a million signs. */
console.log("%s%d%i%f%j%o%O%c%%".repeat(50000), 1);
console.log("%" .repeat(1e6));
1;
