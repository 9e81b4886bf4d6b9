// expect: js-obfuscated
var _0x4f2a = ["log", "hello"];
(function (_0x1b3c) { console[_0x4f2a[0]](_0x4f2a[1]); })();
