# expect: status=ok value="PermissionError,PermissionError,PermissionError"
# The attacker wants memory that can be written and executed.
import mmap

def outcome(attempt):
    try:
        attempt()
    except BaseException as error:
        return type(error).__name__
    return "done"

attempts = [
    lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC),
    lambda: mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ | mmap.PROT_EXEC),
    lambda: mmap.mmap(-1, 4096, flags=mmap.MAP_SHARED, prot=mmap.PROT_EXEC),
]
",".join(outcome(a) for a in attempts)
