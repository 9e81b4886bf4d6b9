// Text to base64 and back.
const encoded = Buffer.from("grüße", "utf8").toString("base64");
const decoded = Buffer.from(encoded, "base64").toString("utf8");
console.log(encoded, decoded, atob(btoa("plain")));
