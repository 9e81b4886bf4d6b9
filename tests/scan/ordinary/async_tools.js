// Calls tools one after the other and joins what they say.
async function main() {
  const customers = await Promise.all(["c1", "c2"].map(async (id) => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    return { id, orders: id.length };
  }));
  const total = customers.reduce((n, c) => n + c.orders, 0);
  console.log(`found ${customers.length} customers with ${total} orders`);
  return customers;
}
await main();
