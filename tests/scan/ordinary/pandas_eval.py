# Columns out of columns.
import numpy as np
import pandas as pd

df = pd.DataFrame({"a": np.arange(5), "b": np.linspace(0, 1, 5)})
df = df.assign(c=df["a"] * df["b"]).query("a > 1")
print(df.describe().loc[["mean", "max"]])
