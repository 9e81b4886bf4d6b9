/* Which quotes a string gets, and what is escaped in it. */
console.log(["it's", 'say "hi"', 'a"b\'c', 'a"b\'c`', "a'b\"${c}", "`"]);
console.log(["line\nbreak", "tab\t", "nul\x00", "bell\x07", "del\x7f", "c1\x85", "back\\slash"]);
console.log(["\ud83d\ude00", "\ud800", "x\udc00y", "é", "\u2028"]);
console.log({ "it's": 1, 'a"b': 2 });
