// Finds the first index that is not smaller.
function lowerBound(list, value) {
  let low = 0, high = list.length;
  while (true) {
    if (low >= high) return low;
    const middle = (low + high) >> 1;
    if (list[middle] < value) low = middle + 1;
    else high = middle;
  }
}
lowerBound([1, 3, 5, 7, 9], 6);
