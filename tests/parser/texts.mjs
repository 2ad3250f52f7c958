// Random texts that are JSON, nearly JSON, or JSON that was damaged. A text is a string whose characters
// are its bytes, so that half a character can be cut away.

/** Random numbers that a seed repeats (sfc32). */
export function random(seed) {
  let [a, b, c, d] = [0x9e3779b9, 0x243f6a88, 0xb7e15162, seed | 0];
  const next = () => {
    const sum = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum | 0;
    return sum >>> 0;
  };
  for (let i = 0; i < 12; i++) next();
  return next;
}

const bytes = (text) => Buffer.from(text, "utf8").toString("latin1");

// What lines of sessions are made of: the reader of entries has ways of its own for these.
const NAMES = [
  "type", "id", "parentId", "timestamp", "message", "role", "content", "text", "toolCall", "arguments", "name", "usage",
  "cost", "stopReason", "summary", "label", "targetId", "firstKeptEntryId", "customType", "data", "thinking", "", "a", "0",
  "10", "__proto__", "é", "日本", "ty\\u0070e", "\\u0069d", "con\\u0074ent", "\\ud83d\\ude00", "\\n", "x\\\\", "\\/",
].map(bytes);
const WORDS = [
  "message", "user", "assistant", "toolResult", "session", "text", "image", "compaction", "label", "leaf", "0123abcd",
  "2026-05-12T13:14:00.000Z",
].map(bytes);
const ESCAPES = [
  "\\n", "\\t", "\\r", "\\b", "\\f", "\\/", "\\\\", '\\"', "\\u0000", "\\u001f", "\\u00e9", "\\u20AC", "\\ud83d\\ude00",
  "\\uD800", "\\udfff", "\\udc00\\ud800", "\\ud83d\\u0041", "\\ud83d\\n", "\\uFFFF", "\\u2028",
];
const BAD_ESCAPES = ["\\x", "\\", "\\u", "\\u12", "\\u12g4", "\\U0041", "\\'", "\\0", "\\u 041", "\\a", "\\u+123"];
const CHARACTERS = ["é", "ß", "€", "日", "😀", "\u2028", "\ufeff", "\u007f", "\u0080", "\ud7ff", "\uffff", "\u{10ffff}"].map(bytes);
const BAD_BYTES = [
  "\x80", "\xbf", "\xc0\x80", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xed\xa0\x80", "\xed\xbf\xbf", "\xf5\x80\x80\x80", "\xff",
  "\xf4\x90\x80\x80", "\xe0\x80\x80", "\xf0\x80\x80\x80", "\xe2\x28\xa1", "\xfe\xff",
];
const CONTROLS = ["\x00", "\x01", "\x1f", "\n", "\t", "\r"];
const NUMBERS = [
  "0", "-0", "1", "-1", "12", "1.5", "-0.0", "1e5", "1E+5", "1e-5", "0e0", "0.1e1", "9007199254740993", "1e400", "-1e400",
  "1e-400", "123456789012345678901234567890", "4.9406564584124654e-324", "2.4703282292062327e-324", "1.7976931348623159e308",
  "2.2250738585072011e-308", "0.30000000000000004", "1778400000000", "5e-324", "100000000000000000000000e-23",
];
const BAD_NUMBERS = [
  "01", "-", "+1", ".5", "1.", "1.e5", "1e", "1e+", "--1", "0x10", "1_000", "NaN", "Infinity", "-Infinity", "00", "-01", "1.5.2",
  "1e5.5", "1e5e5", "0b1", "1n", "-a",
];
const LITERALS = ["true", "false", "null"];
const BAD_LITERALS = ["tru", "True", "nul", "nulll", "falsey", "undefined", "t", "truefalse", "'a'"];
const SPACES = ["", "", "", "", "", " ", "  ", "\t", "\n", "\r\n", " \t\r\n "];
const BAD_SPACES = ["\x0b", "\x0c", "\xc2\xa0", "\xef\xbb\xbf", "\xe2\x80\xa8", "\x00", "/**/", "//\n", "\xe3\x80\x80", "\x1c"];
const CUTS = ['"', "\\", "{", "}", "[", "]", ",", ":", " ", "0", "-", "e", ".", "\x00", "\n", "\x7f", "\x80", "\xff", "u", "t"];

// The parser skips such runs in steps of 8 and 64 bytes.
const PLAIN = "The quick brown fox jumps over the lazy dog; it's 12:30 & <b>all</b> is well [here] {there}, no?";

/** Texts of one seed, one after the other. */
export class Texts {
  constructor(seed, lines) {
    this.next = random(seed);
    this.lines = lines;
  }

  below(n) {
    return this.next() % n;
  }

  one(list) {
    return list[this.below(list.length)];
  }

  /** Once in so many times a thing that should be refused. */
  either(good, bad, often = 400) {
    return this.below(often) === 0 ? this.one(bad) : this.one(good);
  }

  text() {
    const kind = this.below(16);
    let text = kind < 3 && this.lines.length > 0 ? this.one(this.lines) : kind < 9 ? this.line() : this.value(0);
    if (kind % 3 === 0) text = this.space() + text + this.space();
    for (let damages = [0, 0, 1, 1, 1, 2, 3][this.below(7)]; damages > 0; damages--) text = this.damage(text);
    return text;
  }

  space() {
    return this.either(SPACES, BAD_SPACES, 600);
  }

  /** An object as a line of a session is one. */
  line() {
    const members = [];
    for (let i = this.below(5); i >= 0; i--) members.push(this.member(1));
    return `{${members.join(",")}}`;
  }

  member(depth) {
    const name = this.below(8) === 0 ? this.string() : `"${this.one(NAMES)}"`;
    return `${this.space()}${name}${this.space()}:${this.space()}${this.value(depth)}${this.space()}`;
  }

  value(depth) {
    const kind = this.below(depth > 4 ? 6 : 10);
    if (kind < 3) return this.string();
    if (kind === 3) return `"${this.one(WORDS)}"`;
    if (kind === 4) return this.number();
    if (kind === 5) return this.either(LITERALS, BAD_LITERALS);
    const parts = [];
    const count = this.below(depth > 2 ? 3 : 5);
    if (kind < 8) {
      for (let i = 0; i < count; i++) parts.push(this.space() + this.value(depth + 1) + this.space());
      return `[${parts.length === 0 ? this.space() : parts.join(",")}${this.below(500) === 0 ? "," : ""}]`;
    }
    for (let i = 0; i < count; i++) parts.push(this.member(depth + 1));
    return `{${parts.length === 0 ? this.space() : parts.join(",")}${this.below(500) === 0 ? "," : ""}}`;
  }

  number() {
    const kind = this.below(4);
    if (kind < 2) return this.either(NUMBERS, BAD_NUMBERS, 60);
    let text = this.below(2) === 0 ? "-" : "";
    text += `${this.next()}`.slice(0, 1 + this.below(10));
    if (text.length > 2 && this.below(100) > 0) text = text.replace(/^(-?)0+/, "$1");
    if (kind === 3) text += `.${this.next()}${this.below(3) === 0 ? this.next() : ""}e${this.below(2) === 0 ? "-" : ""}${this.below(330)}`;
    return text === "-" || text === "" ? "0" : text;
  }

  string() {
    let text = '"';
    for (let parts = [0, 1, 1, 1, 2, 3, 7][this.below(7)]; parts > 0; parts--) {
      const kind = this.below(24);
      if (kind < 2) text += PLAIN.slice(0, this.below(PLAIN.length));
      else if (kind < 12) text += PLAIN.slice(0, this.below(12));
      else if (kind < 17) text += this.either(ESCAPES, BAD_ESCAPES, 200);
      else if (kind < 20) text += this.one(CHARACTERS);
      else if (kind < 22) text += this.one(BAD_BYTES);
      else if (kind < 23) text += this.one(WORDS);
      else if (this.below(40) === 0) text += this.one(CONTROLS);
    }
    return `${text}"`;
  }

  damage(text) {
    const at = this.below(text.length + 1);
    const to = at + this.below(12);
    switch (this.below(8)) {
      case 0:
        return text.slice(0, at);
      case 1:
        return text.slice(0, at) + text.slice(to);
      case 2:
        return text.slice(0, at) + this.one(CUTS) + text.slice(at);
      case 3:
        return text.slice(0, at) + this.one(CUTS) + text.slice(at + 1);
      case 4:
        return text.slice(0, at) + text.slice(at, to) + text.slice(at);
      case 5:
        return text.slice(0, at) + String.fromCharCode(this.below(256)) + text.slice(at + 1);
      case 6:
        return text.slice(0, at) + this.one([...ESCAPES, ...BAD_ESCAPES, ...BAD_BYTES, ...BAD_SPACES]) + text.slice(at);
      default:
        return text.slice(at) + text.slice(0, at);
    }
  }
}
