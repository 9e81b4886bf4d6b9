// Reads a file of its own and writes another.
import { readFile, writeFile } from "node:fs/promises";
await writeFile("numbers.txt", [1, 2, 3].join("\n"));
const lines = (await readFile("numbers.txt", "utf8")).split("\n");
const sum = lines.map(Number).reduce((a, b) => a + b, 0);
await writeFile("sum.json", JSON.stringify({ sum }));
export default sum;
