// Types that say what rows are.
interface Row { id: number; name: string; tags?: string[] }
type ById = Record<number, Row>;
const rows: Row[] = [{ id: 1, name: "a" }, { id: 2, name: "b", tags: ["x"] }];
const byId = rows.reduce<ById>((acc, row) => ({ ...acc, [row.id]: row }), {});
Object.values(byId).filter((r): r is Row & { tags: string[] } => r.tags !== undefined).length;
