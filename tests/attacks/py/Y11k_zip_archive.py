# expect: status=memory_limit|exception|ok limits: wall_ms=4000 memory_mb=64 disk_bytes=4194304
# The attacker wants the disk and memory by an archive that unpacks to more than there is.
import io
import zipfile

data = io.BytesIO()
with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
    for i in range(6):
        archive.writestr(f"../../../etc/f{i}", bytes(10_000_000))
        archive.writestr(f"/etc/g{i}", bytes(1_000))
zipfile.ZipFile(data).extractall()
