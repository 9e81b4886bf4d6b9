# expect: status=memory_limit limits: memory_mb=40
# The attacker wants a small text to become gigabytes when it is unpacked.
import bz2
import lzma
import zlib

squeeze = zlib.compressobj()
small = b"".join(squeeze.compress(bytes(1_000_000)) for _ in range(100)) + squeeze.flush()
for attempt in (
    lambda: bz2.decompress(bz2.compress(bytes(1_000_000)) * 100),
    lambda: lzma.decompress(lzma.compress(bytes(1_000_000)) * 100),
):
    try:
        attempt()
        raise AssertionError("there was room")
    except MemoryError:
        pass
zlib.decompress(small)
