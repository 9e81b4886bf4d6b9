# Work on several threads.
from concurrent.futures import ThreadPoolExecutor
import threading

lock = threading.Lock()
done = []


def work(n):
    with lock:
        done.append(n)
    return n * 2


with ThreadPoolExecutor(max_workers=3) as pool:
    print(sorted(pool.map(work, range(5))), len(done))
