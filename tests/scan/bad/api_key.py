# expect: secret-assignment
api_key = "f3A9xk2LmQ8sZ7vB1nC4tY6w"
print(len(api_key))
