// Gives out ids without an end, and takes five.
function* ids(prefix) {
  let n = 0;
  while (true) {
    yield `${prefix}-${String(++n).padStart(4, "0")}`;
  }
}
const source = ids("inv");
Array.from({ length: 5 }, () => source.next().value);
