// Errors of a program with a code.
class AppError extends Error {
  constructor(message, code) {
    super(message);
    this.name = new.target.name;
    this.code = code;
    Object.setPrototypeOf(this, new.target.prototype);
  }
}
class NotFound extends AppError {
  constructor(what) {
    super(`${what} was not found`, 404);
  }
}
try {
  throw new NotFound("page");
} catch (error) {
  console.log(error.name, error.code, error instanceof AppError);
}
