# expect: py-object-walk
class A:
    def f(self): pass
print(A.f.__class__.__init__.__globals__)
