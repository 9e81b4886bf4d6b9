/* expect: status=ok value="second" */
/* The attacker wants an old promise to win over the value that was returned after it. */
let settle;
__return(new Promise((done) => { settle = done; }));
setTimeout(() => settle("first"), 5);
__return("second");
