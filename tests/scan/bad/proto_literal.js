// expect: js-proto
const user = JSON.parse('{"name": "x"}');
const evil = { "__proto__": { admin: true } };
Object.assign(user, evil);
