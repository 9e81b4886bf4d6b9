# Goes through commands until one says stop.
commands = iter(["add 2", "add 5", "stop", "add 100"])
total = 0
while True:
    command = next(commands)
    if command == "stop":
        break
    _, number = command.split()
    total += int(number)
print(total)
