// Chance that is the same in every run.

export class Random {
  constructor(private state: number) {}

  /** mulberry32 by Tommy Ettinger, public domain. */
  private next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  below(n: number): number {
    return Math.floor(this.next() * n);
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)];
  }

  shuffle<T>(items: readonly T[]): T[] {
    const result = [...items];
    for (let i = result.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      [result[i], result[j]] = [result[j], result[i]];
    }
    return result;
  }

  id(): string {
    return (this.next() * 2 ** 32).toString(16).split(".")[0].padStart(8, "0");
  }

  words(least: number, most: number): string {
    return Array.from({ length: least + this.below(most - least + 1) }, () => this.pick(vocabulary)).join(" ");
  }
}

const vocabulary = [
  "parser",
  "index",
  "cache",
  "retry",
  "timeout",
  "naïve",
  "Straße",
  "日本語",
  "目録",
  "한국어",
  "שלום",
  "مرحبا",
  "e\u0301",
  "👩‍👩‍👧",
  "🙂",
  "tab\there",
  "two\nlines",
  'quote"',
  "back\\slash",
  "</summary",
  "`code`",
  "\u2028",
  "\x1b[31m",
  "100 %",
];
