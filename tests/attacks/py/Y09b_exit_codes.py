# expect: status=ok|exception
# The attacker wants to end with a code that is no number of a program.
raise SystemExit(-(10**400))
