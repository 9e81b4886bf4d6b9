// Compares versions.
const pattern = /^v?(\d+)\.(\d+)\.(\d+)(?:-([\w.]+))?$/;
function parts(version: string): number[] {
  const found = pattern.exec(version);
  if (!found) throw new RangeError(`${version} is no version`);
  return found.slice(1, 4).map(Number);
}
const newer = (a: string, b: string): boolean => {
  const [x, y] = [parts(a), parts(b)];
  for (let i = 0; i < 3; i++) if (x[i] !== y[i]) return x[i]! > y[i]!;
  return false;
};
["1.10.0", "v1.9.9", "1.2.3-beta.1"].sort((a, b) => (newer(a, b) ? -1 : 1));
