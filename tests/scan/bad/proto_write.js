// expect: js-proto
const payload = {};
payload.__proto__.isAdmin = true;
({}).isAdmin;
