/* expect: status=exception name=SyntaxError */
/* The attacker wants a source that ends in the middle of everything to confuse the wrapper. */
const x = await `${ (() => { return "
