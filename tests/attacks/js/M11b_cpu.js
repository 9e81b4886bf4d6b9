/* expect: status=cpu_limit limits: cpu_ms=200 wall_ms=5000 */
/* The attacker wants more processor time than it was given, in small pieces between waits. */
setInterval(() => {
    const until = Date.now() + 20;
    while (Date.now() < until) {}
}, 1);
