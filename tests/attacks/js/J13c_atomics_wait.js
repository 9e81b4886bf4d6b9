/* expect: status=ok|exception limits: wall_ms=2000 */
/* The attacker wants to block the only thread for ever on memory that nobody shares. */
Atomics.wait(new Int32Array(new ArrayBuffer(8)), 0, 0, 1e9);
