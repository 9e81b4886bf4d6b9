# expect: py-process
import subprocess
print(subprocess.run(["ls", "/"], capture_output=True).stdout)
