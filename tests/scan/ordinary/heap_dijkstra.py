# The shortest ways.
import heapq

graph = {"a": {"b": 1, "c": 4}, "b": {"c": 2, "d": 6}, "c": {"d": 3}, "d": {}}
best = {"a": 0}
heap = [(0, "a")]
while heap:
    cost, node = heapq.heappop(heap)
    for other, weight in graph[node].items():
        if cost + weight < best.get(other, float("inf")):
            best[other] = cost + weight
            heapq.heappush(heap, (best[other], other))
print(best)
