// What may not be there.
interface User { name: string; address?: { city?: string } | null }
const users: Array<User | undefined> = [{ name: "a", address: { city: "Bonn" } }, undefined, { name: "c", address: null }];
users.map((u) => u?.address?.city ?? "unknown");
