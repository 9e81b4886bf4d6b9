/* expect: status=ok value=[[1,2],0] */
/* The attacker wants to see what the runtime stores, by setters on the prototype of arrays. */
let seen = 0;
for (let i = 0; i < 20; i++) {
    Object.defineProperty(Array.prototype, i, { set() { seen++; }, get() { return "owned"; } });
}
console.log("%s %o", "text", { a: 1 });
setTimeout(() => {}, 0);
const list = JSON.parse("[1,2]");
for (let i = 0; i < 20; i++) {
    delete Array.prototype[i];
}
[list, seen];
