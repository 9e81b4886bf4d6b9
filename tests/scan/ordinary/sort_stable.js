// Sorts by several keys.
const people = [
  { name: "Bo", age: 31 }, { name: "Al", age: 31 }, { name: "Cy", age: 25 },
];
const by = (...keys) => (a, b) => {
  for (const key of keys) {
    if (a[key] < b[key]) return -1;
    if (a[key] > b[key]) return 1;
  }
  return 0;
};
people.toSorted(by("age", "name")).map((p) => p.name);
