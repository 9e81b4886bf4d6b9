// Counts calls of methods without decorators.
type Fn = (...args: any[]) => any;
function counted<F extends Fn>(fn: F): F & { calls: number } {
  const wrapped = ((...args: Parameters<F>): ReturnType<F> => {
    wrapped.calls++;
    return fn(...args);
  }) as F & { calls: number };
  wrapped.calls = 0;
  return wrapped;
}
const add = counted((a: number, b: number): number => a + b);
add(1, 2); add(3, 4);
add.calls;
