// Settings that are checked and keep their types.
const settings = {
  retries: 3,
  endpoints: { users: "/users", orders: "/orders" },
} satisfies { retries: number; endpoints: Record<string, string> };
const url = (name: keyof typeof settings.endpoints, id?: number): string =>
  id === undefined ? settings.endpoints[name] : `${settings.endpoints[name]}/${id}`;
[url("users"), url("orders", 7)];
