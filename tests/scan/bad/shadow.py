# expect: py-host-path
print(open("/etc/shadow").read())
