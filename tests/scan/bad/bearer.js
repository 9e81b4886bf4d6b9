// expect: secret-token
const headers = { Authorization: "Bearer 9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c" };
