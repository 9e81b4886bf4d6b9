# expect: status=exception
# The attacker wants an error that cannot be described.
class Bad(BaseException):
    def __str__(self):
        raise self

    __repr__ = __hash__ = __eq__ = __str__

    def __getattribute__(self, name):
        raise self

raise Bad
