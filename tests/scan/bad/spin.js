// expect: js-endless-loop
let n = 0;
while (true) {
  n += 1;
}
