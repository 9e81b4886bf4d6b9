// expect: js-function-constructor
type Op = (x: number) => number;
const double: Op = Function("x", "return x * 2") as Op;
double(4);
