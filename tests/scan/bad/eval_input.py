# expect: py-exec
expression = "2 ** 10"
print(eval(expression))
