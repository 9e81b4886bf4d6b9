// A cache that forgets what was used longest ago.
class LRU {
  constructor(max) {
    this.max = max;
    this.map = new Map();
  }
  get(key) {
    if (!this.map.has(key)) return undefined;
    const value = this.map.get(key);
    this.map.delete(key);
    this.map.set(key, value);
    return value;
  }
  set(key, value) {
    this.map.delete(key);
    this.map.set(key, value);
    if (this.map.size > this.max) this.map.delete(this.map.keys().next().value);
  }
}
const cache = new LRU(2);
cache.set("a", 1); cache.set("b", 2); cache.get("a"); cache.set("c", 3);
[...cache.map.keys()];
