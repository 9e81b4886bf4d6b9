/* Long strings are split at line ends, very long ones cut. */
console.log({ x: "first line 1234567890 1234567890\nsecond line 1234567890 1234567890 123456" });
console.log(["short\ntext"]);
console.log([("y".repeat(60) + "\n").repeat(3)]);
console.log(["z".repeat(10001)].map((s) => [s])[0]);
console.log("plain ".repeat(20));
