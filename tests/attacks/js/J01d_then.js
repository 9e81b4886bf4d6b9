/* expect: status=ok value=7 */
/* The attacker wants to replace the value of the run by a then on every object. */
Object.prototype.then = function (resolve) {
    resolve("owned");
};
7;
