// A list that can be turned round.
type Node<T> = { value: T; next: Node<T> | null };
const build = <T,>(...values: T[]): Node<T> | null =>
  values.reduceRight<Node<T> | null>((next, value) => ({ value, next }), null);
function reverse<T>(list: Node<T> | null): Node<T> | null {
  let head: Node<T> | null = null;
  while (list) [list, head] = [list.next, { value: list.value, next: head }];
  return head;
}
reverse(build(1, 2, 3))?.value;
