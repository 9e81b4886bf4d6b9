// An invoice with taxes.
interface Item { title: string; cents: number; quantity: number; rate: 0.19 | 0.07 }
const items: Item[] = [
  { title: "Book", cents: 1999, quantity: 2, rate: 0.07 },
  { title: "Lamp", cents: 4950, quantity: 1, rate: 0.19 },
];
const net = items.reduce((sum: number, i) => sum + i.cents * i.quantity, 0);
const tax = items.reduce((sum, i) => sum + Math.round(i.cents * i.quantity * i.rate), 0);
({ net: net / 100, tax: tax / 100, gross: (net + tax) / 100 });
