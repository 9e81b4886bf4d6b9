# Data that was printed by Python.
import ast

rows = ast.literal_eval("[('a', 1), ('b', 2)]")
print(dict(rows))
