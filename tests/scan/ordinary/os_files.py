# Names of files and variables by os.
import os

os.makedirs("data/in", exist_ok=True)
with open(os.path.join("data", "in", "x.txt"), "w", encoding="utf-8") as f:
    f.write("hello")
print(os.listdir("data/in"), os.environ.get("MODE", "test"), os.getcwd() != "")
