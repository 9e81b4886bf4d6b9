# The alphabet by its numbers.
alphabet = "".join(chr(code) for code in range(ord("a"), ord("z") + 1))
vowels = [c for c in alphabet if c in "aeiou"]
print(alphabet, vowels)
