/* expect: status=ok value={"open":2} */
/* The attacker wants private fields of a class to leak into the value. */
class Secret {
    #hidden = 1;
    open = 2;
    get hidden() {
        return this.#hidden;
    }
}
new Secret();
