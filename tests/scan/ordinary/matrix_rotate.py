# Turns and flattens lists of lists.
grid = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
rotated = [list(row) for row in zip(*grid[::-1])]
flat = [cell for row in rotated for cell in row]
print(rotated, sum(flat), flat[::-1])
