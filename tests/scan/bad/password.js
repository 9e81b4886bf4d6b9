// expect: secret-assignment
const dbPassword = "k8Jq2vX9pLz4Rw7T";
