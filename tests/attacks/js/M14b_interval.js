/* expect: status=wall_limit limits: wall_ms=200 */
/* The attacker wants a run that never ends, by a timer that repeats at once. */
setInterval(() => {}, 0);
