# expect: status=ok value=""
# The attacker wants to see more of the host than its library when it looks around.
import os

known = ("/home", "/tmp", "/usr", "/dev")
strange = []
for top, dirs, files in os.walk("/"):
    if top.startswith("/usr/lib/python3.11") or top.startswith("/usr/share/zoneinfo"):
        dirs[:] = []
        continue
    strange += [os.path.join(top, f) for f in files]
    if top != "/" and not top.startswith(known):
        strange.append(top)
",".join(strange[:20])
