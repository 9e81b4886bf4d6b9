/* expect: status=ok value=1 */
/* The attacker wants the end of the wrapper to be swallowed by a comment. */
const one = await 1;
__return(one); // the wrapper's own text comes behind this
