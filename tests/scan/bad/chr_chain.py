# expect: py-char-codes
name = chr(111) + chr(115) + chr(46) + chr(115) + chr(121) + chr(115)
print(name)
