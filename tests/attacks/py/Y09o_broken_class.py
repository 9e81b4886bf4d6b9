# expect: status=exception|crashed
# The attacker wants an error of a class that lies about itself.
class Meta(type):
    def __instancecheck__(cls, other):
        raise MemoryError

    def __getattribute__(cls, name):
        raise RecursionError(name)

class Bad(BaseException, metaclass=Meta):
    @property
    def __class__(self):
        return 5

    __traceback__ = __cause__ = __context__ = property(lambda self: 1 / 0)

raise Bad
