// Works a queue off until it is empty.
const queue = [3, 1, 2];
const done = [];
while (queue.length > 0) {
  const job = queue.shift();
  if (job > 2) {
    queue.push(job - 1);
    continue;
  }
  done.push(job * 10);
}
done;
