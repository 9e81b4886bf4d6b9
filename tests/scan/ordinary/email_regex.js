// Finds addresses and dates in a text.
const text = "Write to ann.lee+news@example.com before 2025-03-14 or 14/03/2025.";
const emails = text.match(/[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g);
const dates = [...text.matchAll(/(\d{4})-(\d{2})-(\d{2})/g)].map(([, y, m, d]) => ({ y, m, d }));
const words = text.split(/[^\w]+/).filter(Boolean);
({ emails, dates, count: words.length });
