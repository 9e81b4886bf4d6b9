# expect: py-exec
code = "x = 1"
exec(code)
