/* expect: status=exception|memory_limit limits: memory_mb=64 wall_ms=5000 */
/* The attacker wants one long text by joining one text with itself. */
const piece = "y".repeat(1 << 20);
new Array(1 << 14).fill(piece).join(piece).length;
