# What numbers are like.
import math
import statistics

values = [2, 4, 4, 4, 5, 5, 7, 9]
summary = {
    "mean": statistics.mean(values),
    "median": statistics.median(values),
    "stdev": round(statistics.pstdev(values), 3),
    "geometric": round(math.exp(sum(map(math.log, values)) / len(values)), 3),
}
summary
