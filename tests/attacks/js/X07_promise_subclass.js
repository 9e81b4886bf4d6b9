/* expect: status=exception|ok|wall_limit limits: wall_ms=1000 */
/* The attacker wants its own then to be called when the runtime waits for its promise. */
class Mine extends Promise {
    then() {
        while (true) {}
    }
}
__return(new Mine(() => {}));
