# expect: status=wall_limit limits: wall_ms=120
# The attacker wants to go on after it was ended, by catching whatever ends it.
while True:
    try:
        while True:
            pass
    except BaseException:
        continue
    finally:
        continue
