/* Dates, regular expressions, and both with extra properties. */
console.log(new Date(0), [new Date(86400000)], [new Date(NaN)]);
console.log(/a\/b[c]/gimsuy, [/x/], new RegExp("\n"), /y/dv);
console.log(Object.assign(/x/g, { a: 1 }), Object.assign(new Date(0), { a: 1 }));
class MyDate extends Date {}
console.log(new MyDate(0));
