# expect: status=ok value="MemoryError,MemoryError" limits: memory_mb=32
# The attacker wants all memory by reading what never ends.
def outcome(attempt):
    try:
        attempt()
    except BaseException as error:
        return type(error).__name__
    return "done"

",".join(outcome(lambda p=p: open(p, "rb").read()) for p in ("/dev/urandom", "/dev/random"))
