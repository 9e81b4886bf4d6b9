// expect: js-metadata-address
const r = await fetch("http://169.254.169.254/latest/meta-data/");
await r.text();
