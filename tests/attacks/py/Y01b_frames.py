# expect: status=ok value=""
# The attacker wants the frames of its callers to name something of the host.
import sys
import types

seen, texts, todo = set(), [], [sys._getframe()]
while todo:
    frame = todo.pop()
    if frame is None or id(frame) in seen:
        continue
    seen.add(id(frame))
    todo.append(frame.f_back)
    for scope in (frame.f_globals, frame.f_locals, frame.f_builtins):
        for value in list(scope.values()):
            if isinstance(value, (str, bytes)):
                texts.append(str(value))
            elif isinstance(value, types.ModuleType):
                texts += [str(v) for v in vars(value).values() if isinstance(v, (str, bytes))]
words = [word[::-1] for word in ("x:toor", "ssenrah-skcatta", "rsu/=HTAP")]  # not in our own text
" ".join(t[:80] for t in texts if any(word in t for word in words))
