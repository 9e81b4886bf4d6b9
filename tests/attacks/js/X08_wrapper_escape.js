/* expect: status=exception|ok */
/* The attacker wants to close the function that a script with await is wrapped into, and go on outside. */
await 1; }); globalThis.outside = 1; (async () => {
