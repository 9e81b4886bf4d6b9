// A store of things that have an id.
interface Entity { id: string }
class Repository<T extends Entity> {
  private readonly items = new Map<string, T>();
  save(item: T): this { this.items.set(item.id, item); return this; }
  find(predicate: (item: T) => boolean): T | undefined {
    for (const item of this.items.values()) if (predicate(item)) return item;
    return undefined;
  }
}
new Repository<Entity & { n: number }>().save({ id: "a", n: 2 }).find((x) => x.n > 1)?.id;
