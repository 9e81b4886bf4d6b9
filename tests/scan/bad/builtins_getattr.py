# expect: py-builtins
run = getattr(__builtins__, "ex" + "ec")
run("print(1)")
