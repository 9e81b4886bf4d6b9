# A chart.
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(4, 3))
ax.plot([1, 2, 3], [3, 1, 2], marker="o", label="values")
ax.set_title("Values")
ax.legend()
fig.savefig("chart.png", dpi=80)
