// expect: js-endless-loop
let count: number = 0;
for (;;) { count++; if (count % 1000 === 0) console.log(count); }
