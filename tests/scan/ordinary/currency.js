// Amounts as people write them.
const format = new Intl.NumberFormat("de-DE", { style: "currency", currency: "EUR" });
const parse = (s) => Number(s.replace(/[^\d,-]/g, "").replace(",", "."));
[1234.5, -3].map((n) => format.format(n)).map(parse);
