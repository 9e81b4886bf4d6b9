/* expect: status=exception|memory_limit limits: memory_mb=64 wall_ms=5000 */
/* The attacker wants a string of gigabytes. */
let text = "x".repeat(2 ** 30);
text = text + text + text;
text.charCodeAt(5) + text.split("x").length;
