/* expect: status=exception|ok limits: wall_ms=2000 */
/* The attacker wants to change the value between the check of it and the use of it. */
let calls = 0;
({ get x() { return calls++ === 0 ? 1 : { toJSON() { return { evil: 10n }; } }; } });
