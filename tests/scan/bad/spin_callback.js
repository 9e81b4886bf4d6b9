// expect: js-endless-loop
const items = [1, 2, 3];
while (1) {
  items.forEach((x) => { if (x > 2) return; });
}
