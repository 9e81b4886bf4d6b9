# expect: status=ok|exception|crashed|wall_limit limits: wall_ms=500
# The attacker wants a table whose keys are made while they are read.
class Key:
    def __hash__(self):
        return 1

    def __eq__(self, other):
        table.clear()
        return False

    def __str__(self):
        table[Key()] = 1
        return "x"

table = {}
table.update({Key(): 1, (1, 2): 2, None: 3, 1.5: 4})
table
