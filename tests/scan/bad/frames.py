# expect: py-frames
import sys
print(sys._getframe(0).f_globals)
