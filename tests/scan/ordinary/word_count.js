// Counts words, most frequent first.
const text = `the quick brown fox jumps over the lazy dog the end`;
const counts = new Map();
for (const word of text.split(/\s+/)) {
  counts.set(word, (counts.get(word) || 0) + 1);
}
[...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])).slice(0, 3);
