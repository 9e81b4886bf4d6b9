/* expect: status=ok value=["none","none"] */
/* The attacker wants the runtime's functions that called it, by arguments.callee.caller. */
const found = [];
function spy() {
    try {
        const { caller } = arguments.callee;
        found.push(caller === null ? "none" : String(caller).slice(0, 40));
    } catch (error) {
        found.push(error.name);
    }
}
setTimeout(spy, 0);
queueMicrotask(spy);
await new Promise((done) => setTimeout(done, 10));
found;
