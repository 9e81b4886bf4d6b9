// Primes up to a number.
function primes(max) {
  const composite = new Uint8Array(max + 1);
  const found = [];
  for (let i = 2; i <= max; i++) {
    if (composite[i]) continue;
    found.push(i);
    for (let j = i * i; j <= max; j += i) composite[j] = 1;
  }
  return found;
}
primes(100).length;
