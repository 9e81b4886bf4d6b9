/* expect: status=exception name=RangeError limits: value_bytes=1000000 */
/* The attacker wants a value of ten million members in the host's memory. */
new Array(3e6).fill(0);
