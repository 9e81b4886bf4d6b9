# expect: status=ok|exception|memory_limit limits: wall_ms=2000 memory_mb=64
# The attacker wants memory outside of the interpreter, by hashing.
import hashlib

hashlib.scrypt(b"x", salt=b"x", n=2**20, r=8, p=1, maxmem=2**31 - 1)
