# expect: status=ok value=1000
# The attacker wants buffers that are never written, of a thousand files at once.
files = []
for i in range(1000):
    try:
        files.append(open(f"f{i}", "w"))
        files[-1].write("x" * 1000)
    except OSError:
        files[-1].close()
        files = []
1000
