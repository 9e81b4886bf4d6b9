# Commands by their shape.
def act(command):
    match command.split():
        case ["go", direction]:
            return f"going {direction}"
        case ["take", *things] if things:
            return f"taking {' and '.join(things)}"
        case ["exit"]:
            return "bye"
        case _:
            return "what?"


print([act(c) for c in ("go north", "take lamp key", "exit", "")])
