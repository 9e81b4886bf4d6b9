/* expect: status=ok value=2 */
/* The attacker wants two parsers, the one that wraps and the one that runs, to disagree about a comment. */
const a = await 2;
<!-- const b = await 3;
__return(a);
