/* expect: status=exception name=SyntaxError */
/* The attacker wants the engine's private names, which builtins of the engine are written with. */
@putByValDirect([], 0, 1);
