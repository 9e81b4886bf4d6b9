/* expect: status=wall_limit limits: wall_ms=300 */
/* The attacker wants never to be idle. */
process.on("beforeExit", () => {
    setTimeout(() => {}, 1);
});
