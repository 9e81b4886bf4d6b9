/* expect: status=ok value=3 */
/* The attacker wants the runtime to miss what was deleted from the global object. */
const global = globalThis;
const ownKeys = Reflect.ownKeys;
const remove = Reflect.deleteProperty;
const all = ownKeys(global);
for (let i = 0; i < all.length; i++) {
    remove(global, all[i]);
}
3;
