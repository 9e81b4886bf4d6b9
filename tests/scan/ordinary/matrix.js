// Multiplies matrices and transposes one.
const multiply = (a, b) =>
  a.map((row) => b[0].map((_, j) => row.reduce((sum, x, k) => sum + x * b[k][j], 0)));
const transpose = (m) => m[0].map((_, i) => m.map((row) => row[i]));
const a = [[1, 2], [3, 4]];
console.table(multiply(a, transpose(a)));
