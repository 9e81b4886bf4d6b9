# A class that refuses.
class InsufficientFunds(Exception):
    pass


class Account:
    def __init__(self, balance=0):
        self._balance = balance

    def withdraw(self, amount):
        if amount > self._balance:
            raise InsufficientFunds(f"{amount} is more than {self._balance}")
        self._balance -= amount
        return self._balance


try:
    Account(10).withdraw(25)
except InsufficientFunds as error:
    print(error)
