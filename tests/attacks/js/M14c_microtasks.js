/* expect: status=wall_limit limits: wall_ms=200 */
/* The attacker wants its timers, and everybody's end, to starve behind microtasks. */
setTimeout(() => __return("never"), 0);
(function again() {
    Promise.resolve().then(again);
})();
