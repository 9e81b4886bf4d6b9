# expect: status=ok|exception
# The attacker wants source text that the parser and the runtime read differently.
for source in (b"1\0 2", "\ufeff1", "# coding: utf-7\n+AG8-s", b"# coding: rot13\n1", b"\xff\xfe1\0", "\x0c1", "x = 1\r y"):
    try:
        compile(source, "x\0y" if isinstance(source, str) else "x", "exec")
    except (SyntaxError, ValueError, LookupError):
        pass
