# expect: status=ok value=1
# The attacker wants to go on in what is collected at the end.
class Late:
    def __del__(self):
        while True:
            pass

kept = Late()
kept.self = kept
1
