// highlight.js - cuts a source text into coloured pieces: comments, strings, numbers, words. It colours; it
// does not understand, and every text is cut without an error and in one pass.

const words = text => new Set(text.split(" "));

const JS_KEYWORDS = words("async await break case catch class const continue debugger default delete do else " +
  "export extends finally for from function get if import in instanceof let new of return set static super " +
  "switch this throw try typeof var void while with yield");
const TS_KEYWORDS = new Set([...JS_KEYWORDS, ...words("abstract as asserts declare enum implements infer " +
  "interface is keyof namespace override private protected public readonly satisfies type unique")]);
const TS_TYPES = words("any bigint boolean never number object string symbol unknown");
const PY_KEYWORDS = words("and as assert async await break case class continue def del elif else except finally " +
  "for from global if import in is lambda match nonlocal not or pass raise return try while with yield");
const CONSTANTS = words("true false null undefined NaN Infinity True False None");
const GIVEN = words("console display input process globalThis print len range enumerate zip sorted sum map filter " +
  "str int float list dict set tuple open self");

// None of these can go back and forth for long: every alternative begins differently, or what follows a
// repetition always matches.
const JS_RULES = [
  ["comment", /\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)/y],
  ["string", /"(?:\\[^]|[^"\\\n])*"?|'(?:\\[^]|[^'\\\n])*'?|`(?:\\[^]|[^`\\])*`?/y],
  ["number", /0[xX][\da-fA-F_]+n?|0[bB][01_]+n?|0[oO][0-7_]+n?|(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d[\d_]*)?n?/y],
  ["word", /[\p{L}_$#][\p{L}\p{N}_$]*/uy],
];
const JS_REGEXP = /\/(?![*/])(?:\\[^\n]|\[(?:\\[^\n]|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y;
const PY_RULES = [
  ["comment", /#[^\n]*/y],
  ["string", /[rRbBuUfF]{0,2}(?:"""(?:\\[^]|[^\\])*?(?:"""|$)|'''(?:\\[^]|[^\\])*?(?:'''|$)|"(?:\\[^]|[^"\\\n])*"?|'(?:\\[^]|[^'\\\n])*'?)/y],
  ["number", /0[xX][\da-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d[\d_]*)?j?/y],
  ["given", /@[\p{L}_][\p{L}\p{N}_.]*/uy],
  ["word", /[\p{L}_][\p{L}\p{N}_]*/uy],
];
const BLANK = /\s+/y;

function matchAt(rule, text, at) {
  rule.lastIndex = at;
  const found = rule.exec(text);
  return found === null ? 0 : found[0].length;
}

function kindOfWord(word, language, text, end, before) {
  if (before === ".") {
    return text[end] === "(" ? "function" : "plain";
  }
  const keywords = language === "python" ? PY_KEYWORDS : language === "typescript" ? TS_KEYWORDS : JS_KEYWORDS;
  if (keywords.has(word)) {
    return "keyword";
  }
  if (CONSTANTS.has(word)) {
    return "number";
  }
  if (language === "typescript" && TS_TYPES.has(word)) {
    return "type";
  }
  if (GIVEN.has(word)) {
    return "given";
  }
  if (text[end] === "(") {
    return "function";
  }
  return /^\p{Lu}/u.test(word) ? "type" : "plain";
}

// [[kind, text], ...]; put together they are the text.
export function highlight(text, language) {
  const rules = language === "python" ? PY_RULES : JS_RULES;
  const pieces = [];
  let at = 0, before = "", mayDivide = false;

  const put = (kind, length) => {
    const piece = text.slice(at, at + length), last = pieces[pieces.length - 1];
    if (last !== undefined && last[0] === kind) {
      last[1] += piece;
    } else {
      pieces.push([kind, piece]);
    }
    at += length;
  };
  while (at < text.length) {
    const blank = matchAt(BLANK, text, at);
    if (blank > 0) {
      put("plain", blank);
      continue;
    }
    let kind = null, length = 0;
    for (const [name, rule] of rules) {
      length = matchAt(rule, text, at);
      if (length > 0) {
        kind = name;
        break;
      }
    }
    if (kind === null && text[at] === "/" && !mayDivide && language !== "python") {
      length = matchAt(JS_REGEXP, text, at);
      kind = length > 0 ? "string" : null;
    }
    if (kind === null) {
      length = 1;
      kind = "plain";
    }
    const piece = text.slice(at, at + length);
    if (kind === "word") {
      kind = kindOfWord(piece, language, text, at + length, before);
    }
    if (kind !== "comment") {
      mayDivide = kind === "plain" ? !/[({[,;:=!&|?+\-*%<>~^/]$/.test(piece) : kind !== "keyword";
      before = piece;
    }
    put(kind, length);
  }
  return pieces;
}
