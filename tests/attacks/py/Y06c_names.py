# expect: status=ok value=""
# The attacker wants names and addresses of the network.
import sys

plain = sys.modules["_vial.imports"].plain_import
socket = plain("socket")
attempts = {
    "getaddrinfo": lambda: socket.getaddrinfo("localhost", 80),
    "literal": lambda: socket.create_connection(("127.0.0.1", 22), 1),
    "gethostbyname": lambda: socket.gethostbyname("example.com"),
    "gethostbyaddr": lambda: socket.gethostbyaddr("127.0.0.1"),
    "services": lambda: socket.getservbyname("http"),
    "interfaces": lambda: socket.if_nameindex(),
    "fqdn": lambda: socket.getfqdn() == "vial" and 1 / 0,
    "urlopen": lambda: plain("urllib.request", fromlist=["x"]).urlopen("http://127.0.0.1/", timeout=1),
    "file": lambda: plain("urllib.request", fromlist=["x"]).urlopen("file:///etc/passwd").read(),
    "http": lambda: plain("http.client", fromlist=["x"]).HTTPConnection("127.0.0.1", timeout=1).connect(),
    "ftp": lambda: plain("ftplib").FTP("127.0.0.1", timeout=1),
}
done = []
for name, attempt in attempts.items():
    try:
        attempt()
        done.append(name)
    except Exception:
        pass
",".join(done)
