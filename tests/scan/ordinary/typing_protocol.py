# Things that can be drawn.
from typing import Protocol


class Drawable(Protocol):
    def draw(self) -> str: ...


class Circle:
    def draw(self) -> str:
        return "o"


class Line:
    def draw(self) -> str:
        return "-"


def render(things: list[Drawable]) -> str:
    return "".join(thing.draw() for thing in things)


print(render([Circle(), Line(), Circle()]))
