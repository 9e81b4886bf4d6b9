/* expect: status=exception|ok limits: wall_ms=2000 */
/* The attacker wants to go on running inside of the value it has returned. */
let turns = 0;
__return({ get again() { turns++; setTimeout(() => __return("owned"), 0); return turns; } });
