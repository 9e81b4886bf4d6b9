// What everybody writes once.
const out = [];
for (let i = 1; i <= 20; i++) {
  out.push(i % 15 === 0 ? "FizzBuzz" : i % 5 === 0 ? "Buzz" : i % 3 === 0 ? "Fizz" : i);
}
console.log(out.join(" "));
