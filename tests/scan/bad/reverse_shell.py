# expect: py-socket
import socket
s = socket.socket()
s.connect(("10.0.0.1", 4444))
