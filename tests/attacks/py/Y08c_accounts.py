# expect: status=ok value="vial,vial,0"
# The attacker wants the accounts of the host.
import grp
import pwd

others = 0
for attempt in (lambda: pwd.getpwnam("root"), lambda: pwd.getpwuid(0), lambda: grp.getgrgid(0), lambda: grp.getgrnam("root")):
    try:
        attempt()
        others += 1
    except KeyError:
        pass
",".join([p.pw_name for p in pwd.getpwall()] + [g.gr_name for g in grp.getgrall()] + [str(others)])
