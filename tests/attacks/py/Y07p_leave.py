# expect: status=ok value="left"
# The attacker wants to leave files for the next run.
import os
import tempfile

for path in ("/home/vial/left", "/tmp/left", "/dev/left", "/left", "/usr/left", tempfile.gettempdir() + "/left2"):
    try:
        open(path, "w").write("left")
    except OSError:
        pass
os.environ["LEFT"] = "1"
"left"
