# expect: py-endless-loop
count = 0
while True:
    count += 1
