# expect: status=ok value=""
# The attacker wants processes, pools, queues and memory in common by multiprocessing.
import sys

plain = sys.modules["_vial.imports"].plain_import
multiprocessing = plain("multiprocessing")
attempts = {
    "process": lambda: multiprocessing.Process(target=print).start(),
    "spawn": lambda: multiprocessing.get_context("spawn").Process(target=print).start(),
    "forkserver": lambda: multiprocessing.get_context("forkserver").Process(target=print).start(),
    "pool": lambda: multiprocessing.Pool(2),
    "pipe": lambda: multiprocessing.Pipe(),
    "shm": lambda: plain("multiprocessing.shared_memory", fromlist=["x"]).SharedMemory(create=True, size=4096),
    "manager": lambda: multiprocessing.Manager(),
    "listener": lambda: plain("multiprocessing.connection", fromlist=["x"]).Listener(),
    "executor": lambda: plain("concurrent.futures", fromlist=["x"]).ProcessPoolExecutor(2).submit(print).result(1),
}
made = []
for name, attempt in attempts.items():
    try:
        attempt()
        made.append(name)
    except BaseException:
        pass
",".join(made)
