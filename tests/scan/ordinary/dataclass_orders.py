# Orders with their totals.
from dataclasses import dataclass, field


@dataclass
class Order:
    customer: str
    items: list = field(default_factory=list)

    def add(self, title, price, count=1):
        self.items.append((title, price, count))
        return self

    @property
    def total(self):
        return sum(price * count for _, price, count in self.items)


order = Order("ann").add("book", 20).add("pen", 1.5, 4)
order.total
