// expect: secret-aws-key
const client = { accessKeyId: "AKIAZ7Q3XW5PLM2N8RTU", region: "eu-west-1" };
