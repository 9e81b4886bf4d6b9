# expect: status=ok value=0
# The attacker wants secrets of the host among all objects on the heap.
import gc

def walk(todo, limit):
    seen = set()
    while todo and len(seen) < limit:
        item = todo.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        yield item
        todo.extend(gc.get_referents(item))

gc.unfreeze()
count = 0
for item in walk(gc.get_objects(), 400000):
    if isinstance(item, (str, bytes)) and len(item) < 100000:
        text = item if isinstance(item, str) else item.decode("latin-1")
        count += any(word[::-1] in text for word in ("rsu/=HTAP", "ssenrah-skcatta", "KCOS_HTUA_HSS"))
count
