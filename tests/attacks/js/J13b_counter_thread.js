/* expect: status=ok value=["undefined","undefined","undefined"] */
/* The attacker wants a second thread with shared memory as its clock. */
[typeof SharedArrayBuffer, typeof Worker, typeof globalThis.WebAssembly];
