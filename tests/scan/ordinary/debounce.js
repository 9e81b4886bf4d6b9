// Calls a function once for many calls.
function debounce(fn, ms) {
  let timer;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => fn(...args), ms);
  };
}
let count = 0;
const save = debounce(() => count++, 2);
save(); save(); save();
await new Promise((r) => setTimeout(r, 10));
count;
