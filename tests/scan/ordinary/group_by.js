// Sums amounts by category and sorts them.
const rows = [
  { category: "food", amount: 12.5 },
  { category: "rent", amount: 900 },
  { category: "food", amount: 7.25 },
];
const totals = rows.reduce((acc, row) => {
  acc[row.category] = (acc[row.category] ?? 0) + row.amount;
  return acc;
}, {});
Object.entries(totals).sort(([, a], [, b]) => b - a);
