// Rows by week.
const week = (date) => {
  const d = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()));
  d.setUTCDate(d.getUTCDate() + 4 - (d.getUTCDay() || 7));
  const first = new Date(Date.UTC(d.getUTCFullYear(), 0, 1));
  return Math.ceil(((d - first) / 86400000 + 1) / 7);
};
["2025-01-01", "2025-06-15"].map((s) => week(new Date(s)));
