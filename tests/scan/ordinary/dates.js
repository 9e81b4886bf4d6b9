// Days between dates, and the names of their months.
const start = new Date("2025-01-31T00:00:00Z");
const end = new Date("2025-03-01T00:00:00Z");
const days = Math.round((end - start) / 86400000);
const month = new Intl.DateTimeFormat("en", { month: "long", timeZone: "UTC" });
({ days, from: month.format(start), to: month.format(end) });
