// examples.js - programs to begin with.

export const EXAMPLES = {
  javascript: [
    ["A value, output, a table", `// Every program runs in a fresh process behind a kernel wall.
// The value of the last expression is its result.
const rows = ["May", "June", "July"].map((month, i) => ({ month, sum: 40 + i * 7 }));

console.log("looking at", rows.length, "rows");
display.table(rows, { name: "sums" });
({ rows, total: rows.reduce((sum, row) => sum + row.sum, 0) });
`],
    ["A drawing", `const bars = [12, 30, 22, 44, 38, 51];
const rects = bars.map((h, i) =>
  \`<rect x="\${i * 40 + 10}" y="\${60 - h}" width="28" height="\${h}" fill="#0f8078"/>\`);

display.svg(\`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 250 60" width="500">\${rects.join("")}</svg>\`,
  { name: "bars" });
`],
    ["Live output", `for (let i = 1; i <= 10; i++) {
  console.log(\`step \${i} of 10\`);
  await new Promise(done => setTimeout(done, 300));
}
`],
    ["An error", `function price(order) {
  return order.cents / 100;
}

price({ cents: 995 }) + price(undefined);
`],
    ["An endless loop", `// The limit of time stops it. Cancel does, too.
while (true) {}
`],
  ],
  typescript: [
    ["Types", `interface Order {
  id: string;
  cents: number;
}

const orders: Order[] = [{ id: "A-1", cents: 995 }, { id: "B-2", cents: 12_000 }];
const euros = (cents: number): string => (cents / 100).toFixed(2) + " EUR";

orders.map(order => \`\${order.id}: \${euros(order.cents)}\`);
`],
  ],
  python: [
    ["A value and output", `from collections import Counter

words = "to be or not to be".split()
counts = Counter(words)

print(len(words), "words")
{"counts": counts, "most": counts.most_common(1)[0][0]}
`],
    ["A chart, in the environment data", `import numpy as np
import matplotlib.pyplot as plt

x = np.linspace(0, 10, 200)
plt.figure(figsize=(6, 2.4))
plt.plot(x, np.sin(x))
plt.show()
float(np.sin(x).sum())
`],
    ["An error", `def price(order):
    return order["cents"] / 100

price({"cents": 995}) + price({})
`],
  ],
};
