# expect: status=exception name=ValueError
# The attacker wants an integer of a hundred million digits to become a text.
str(1 << 10**8)
