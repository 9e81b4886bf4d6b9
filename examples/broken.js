/* broken.js - fails on line 7, in a function that was called from line 11. */
const orders = [{ id: 1, customer: { name: "Ada" } }, { id: 2, customer: null }];

function names(list) {
    const result = [];
    for (const order of list) {
        result.push(order.customer.name);
    }
    return result;
}
names(orders);
