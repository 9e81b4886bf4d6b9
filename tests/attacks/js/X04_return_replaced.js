/* expect: status=ok value=5 */
/* The attacker wants the run to have no value, by taking away the function that gives it. */
globalThis.__return = () => {};
delete globalThis.__return;
5;
