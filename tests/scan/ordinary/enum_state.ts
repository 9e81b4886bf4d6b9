// A machine with states.
enum State { Idle, Running, Done }
class Machine {
  constructor(private state: State = State.Idle) {}
  next(): State {
    switch (this.state) {
      case State.Idle: this.state = State.Running; break;
      case State.Running: this.state = State.Done; break;
      default: break;
    }
    return this.state;
  }
}
const m = new Machine();
m.next();
State[m.next()];
