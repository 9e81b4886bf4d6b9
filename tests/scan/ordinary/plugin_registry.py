# Subclasses that make themselves known.
class Plugin:
    registry = {}

    def __init_subclass__(cls, **more):
        super().__init_subclass__(**more)
        Plugin.registry[cls.__name__.lower()] = cls


class Upper(Plugin):
    def run(self, text):
        return text.upper()


class Lower(Plugin):
    def run(self, text):
        return text.lower()


print({name: cls().run("Ab") for name, cls in Plugin.registry.items()})
print([cls.__name__ for cls in Plugin.__subclasses__()])
