# expect: status=ok value=""
# The attacker wants to start programs or copies of itself in every way that the library knows.
import os
import sys

plain = sys.modules["_vial.imports"].plain_import
subprocess = plain("subprocess")
pty = plain("pty")
env = {}
attempts = {
    "fork": lambda: os.fork(),
    "forkpty": lambda: os.forkpty(),
    "system": lambda: os.system("id") == 0 or 1 / 0,
    "popen": lambda: os.popen("id").read(),
    "posix_spawn": lambda: os.posix_spawn("/bin/sh", ["sh"], env),
    "posix_spawnp": lambda: os.posix_spawnp("sh", ["sh"], env),
    "spawnv": lambda: os.spawnv(os.P_NOWAIT, "/bin/sh", ["sh"]),
    "spawnvp": lambda: os.spawnvp(os.P_NOWAIT, "sh", ["sh"]),
    "execv": lambda: os.execv("/bin/sh", ["sh"]),
    "execve": lambda: os.execve("/proc/self/exe", ["x"], env),
    "execvp": lambda: os.execvp("python3", ["python3"]),
    "fexecve": lambda: os.execve(0, ["sh"], env),
    "run": lambda: subprocess.run(["id"]),
    "shell": lambda: subprocess.check_output("id", shell=True),
    "preexec": lambda: subprocess.Popen(["id"], preexec_fn=print),
    "close": lambda: subprocess.Popen(["id"], close_fds=False),
    "pty": lambda: pty.spawn("/bin/sh"),
    "fork_exec": lambda: plain("_posixsubprocess").fork_exec([b"/bin/sh"], [b"/bin/sh"], True, (), None, None, -1, -1, -1, -1, -1, -1, -1, -1, False, False, -1, None, None, None, -1, None, False),
    "memfd": lambda: os.memfd_create("x"),
    "pidfd": lambda: os.pidfd_open(1),
}
made = []
for name, attempt in attempts.items():
    try:
        attempt()
        made.append(name)
    except BaseException:
        pass
",".join(made)
