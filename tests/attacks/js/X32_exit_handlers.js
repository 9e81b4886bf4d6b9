/* expect: status=exception message=late limits: wall_ms=2000 */
/* The attacker wants to use the handlers of the end to stay. */
process.on("exit", () => {
    setInterval(() => {}, 1);
    process.nextTick(() => {
        for (;;);
    });
    throw new Error("late");
});
process.exit(0);
