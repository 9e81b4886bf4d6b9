// A range that can be walked through.
class Range implements Iterable<number> {
  constructor(private from: number, private to: number, private step = 1) {}
  *[Symbol.iterator](): Iterator<number> {
    for (let n = this.from; n < this.to; n += this.step) yield n;
  }
}
[...new Range(0, 10, 3)];
