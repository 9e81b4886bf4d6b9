# expect: status=ok value=""
# The attacker wants to become somebody else, or raise its own limits.
import os
import resource

attempts = {
    "setuid": lambda: os.setuid(0),
    "setgid": lambda: os.setgid(0),
    "setresuid": lambda: os.setresuid(0, 0, 0),
    "setgroups": lambda: os.setgroups([0]),
    "setsid": lambda: os.setsid(),
    "setpgid": lambda: os.setpgid(0, 0),
    "nice": lambda: os.nice(-20),
    "priority": lambda: os.setpriority(os.PRIO_PROCESS, 0, -20),
    "affinity": lambda: os.sched_setaffinity(0, range(64)),
    "scheduler": lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(99)),
    "chroot": lambda: os.chroot("/"),
    "data": lambda: resource.setrlimit(resource.RLIMIT_DATA, (-1, -1)),
    "cpu": lambda: resource.setrlimit(resource.RLIMIT_CPU, (-1, -1)),
    "nproc": lambda: resource.setrlimit(resource.RLIMIT_NPROC, (-1, -1)),
    "prlimit": lambda: resource.prlimit(1, resource.RLIMIT_AS, (1, 1)),
    "wait": lambda: os.wait(),
    "getsid": lambda: os.getsid(0),
}
done = []
for name, attempt in attempts.items():
    try:
        attempt()
        done.append(name)
    except (OSError, ValueError):
        pass
",".join(done)
