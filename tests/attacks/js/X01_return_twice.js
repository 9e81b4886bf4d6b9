/* expect: status=ok value=2 */
/* The attacker wants two values, or the first one after it changed its mind. */
__return(1);
__return(2);
3;
