# expect: status=exception
# The attacker wants an error whose name, message and file drive a terminal.
Bad = type("\x1b]0;owned\x07\n{}", (Exception,), {"__module__": "\x1b[2J"})
exec(compile("raise Bad('\x1b[31m\x00\ud800\r\n\u202e')", "\x1b[31mfile\n\ud800", "exec"))
