# expect: py-dynamic-import
m = __import__("o" + "s")
m.system("id")
