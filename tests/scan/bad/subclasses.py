# expect: py-object-walk
for cls in ().__class__.__bases__[0].__subclasses__():
    print(cls.__name__)
