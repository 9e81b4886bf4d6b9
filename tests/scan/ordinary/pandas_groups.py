# Groups of a table, with pandas.
import pandas as pd

frame = pd.DataFrame({"city": ["A", "B", "A"], "sales": [3, 4, 5]})
frame["share"] = frame["sales"] / frame["sales"].sum()
result = frame.groupby("city", as_index=False).agg(total=("sales", "sum"), share=("share", "sum"))
print(result.sort_values("total", ascending=False).to_string(index=False))
