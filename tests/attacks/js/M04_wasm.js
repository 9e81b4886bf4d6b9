/* expect: status=ok value="undefined" */
/* The attacker wants four gigabytes of linear memory and a compiler thread. */
typeof WebAssembly;
