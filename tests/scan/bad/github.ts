// expect: secret-token
const headers: Record<string, string> = { authorization: "token ghp_a8Kd02mXz71QwErTyUiOpAsDfGhJkLzXcVbN" };
