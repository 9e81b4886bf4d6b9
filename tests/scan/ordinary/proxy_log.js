// Notes which members are read.
const reads = [];
const logged = new Proxy({ a: 1, b: 2 }, {
  get(target, key, receiver) {
    reads.push(String(key));
    return Reflect.get(target, key, receiver);
  },
});
logged.a + logged.b;
