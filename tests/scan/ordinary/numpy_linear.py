# A line through points.
import numpy as np

x = np.array([0.0, 1.0, 2.0, 3.0])
y = np.array([1.0, 2.9, 5.1, 7.0])
slope, intercept = np.polyfit(x, y, 1)
print(round(slope, 2), round(intercept, 2))
