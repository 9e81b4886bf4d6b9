/* expect: status=exception message=later */
/* The attacker wants an error after the end of the script to be lost. */
setTimeout(() => { throw new Error("later"); }, 1);
1;
