/* expect: status=ok value=["mine"] */
/* The attacker wants the runtime's own promises to be made by the attacker's class. */
let made = 0;
class Fake extends Promise {
    constructor(executor) {
        super(executor);
        made++;
    }
}
Promise.prototype.constructor = Fake;
Promise.prototype.then = () => "owned";
Object.defineProperty(Promise, Symbol.species, { get: () => Fake });
queueMicrotask(() => {});
const answer = (async () => ["mine"])();
answer;
