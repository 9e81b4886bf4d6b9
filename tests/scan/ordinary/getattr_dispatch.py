# Methods by their names.
class Handler:
    def on_add(self, a, b):
        return a + b

    def on_sub(self, a, b):
        return a - b

    def handle(self, event, *args):
        method = getattr(self, f"on_{event}", None)
        if method is None:
            raise ValueError(f"unknown event {event}")
        return method(*args)


print(Handler().handle("add", 2, 3))
