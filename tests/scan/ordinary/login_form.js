// Checks what a form says.
function validate({ user, password, token }) {
  const problems = [];
  if (!user) problems.push("user is missing");
  if (!password || password.length < 12) problems.push("password is too short");
  if (token === undefined) problems.push("token is missing");
  return problems;
}
validate({ user: "ann", password: "short" });
