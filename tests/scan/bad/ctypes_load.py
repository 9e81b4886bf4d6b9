# expect: py-native-code
from ctypes import CDLL
libc = CDLL("libc.so.6")
