/* expect: status=ok value=["dirname","filename","main","resolve","url"] */
/* The attacker wants to know where it is, by import.meta. */
Object.keys(import.meta);
