/* expect: status=exception name=Error */
/* The attacker wants its stack to name another file, or a frame of the runtime. */
//# sourceURL=vial:prelude
eval("//# sourceURL=/etc/passwd\nthrow new Error('x')");
