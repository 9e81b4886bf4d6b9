/* expect: status=wall_limit limits: wall_ms=200 */
/* The attacker wants to starve the clock by immediates that make immediates. */
(function again() {
    setImmediate(again);
    setImmediate(() => {});
})();
