/* expect: status=ok dropped=1 limits: stdout_bytes=1000 wall_ms=8000 */
/* The attacker wants one line, without an end, larger than every buffer. */
console.log("y".repeat(5000));
1;
