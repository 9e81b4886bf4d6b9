// Tries something several times, with longer pauses each time.
async function retry(fn, attempts = 3) {
  let delay = 1;
  for (;;) {
    try {
      return await fn();
    } catch (error) {
      if (--attempts <= 0) throw error;
      await new Promise((r) => setTimeout(r, delay));
      delay *= 2;
    }
  }
}
let calls = 0;
await retry(async () => {
  if (++calls < 3) throw new Error("not yet");
  return calls;
});
