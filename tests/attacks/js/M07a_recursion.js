/* expect: status=exception name=RangeError */
/* The attacker wants to run off the end of the stack. */
function f(n) {
    return f(n + 1) + 1;
}
f(0);
