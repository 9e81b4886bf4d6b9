// expect: secret-private-key
const key = `-----BEGIN RSA PRIVATE KEY-----
MIIEowIBAAKCAQEA7bq
-----END RSA PRIVATE KEY-----`;
