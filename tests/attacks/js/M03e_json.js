/* expect: status=exception|memory_limit limits: memory_mb=64 wall_ms=8000 */
/* The attacker wants the engine's own serialiser to take all memory in one native call. */
const row = new Array(1000).fill("z".repeat(1000));
JSON.stringify(new Array(10000).fill(row)).length;
