# Shifts letters.
def caesar(text, by):
    out = []
    for c in text:
        if c.isalpha():
            base = ord("A") if c.isupper() else ord("a")
            c = chr((ord(c) - base + by) % 26 + base)
        out.append(c)
    return "".join(out)


print(caesar("Hello", 3))
