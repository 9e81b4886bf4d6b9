/* expect: status=exception name=SyntaxError */
/* The attacker wants to know where it is, by import.meta. */
import.meta.url;
