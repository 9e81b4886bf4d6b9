/* expect: status=ok value="\ud800" */
/* The attacker wants bytes that are no text to reach a reader of UTF-8. */
console.log("\ud800\udfff\udc00 \u0000 \ufffe \u2028 \x1b[31m \x9b2J");
console.error("\ud800");
"\ud800";
