// Counts what is equal and tells what is not.
import type { Json } from "./agents.ts";

/** Failures of a group that are told in full. */
const shown = 5;

interface Group {
  passed: number;
  failures: string[];
}

export class Checks {
  private readonly groups: Map<string, Group>;

  /** Every group must have a check in the end. */
  constructor(groups: string[]) {
    this.groups = new Map(groups.map(name => [name, { passed: 0, failures: [] }]));
  }

  /** Whether two values are equal; `what` says where they come from. */
  same(group: string, what: string, ours: Json, theirs: Json): boolean {
    const difference = firstDifference(ours, theirs, "");
    const counted = this.group(group);
    if (difference === undefined) counted.passed += 1;
    else counted.failures.push(`${what}: ${difference}`);
    return difference === undefined;
  }

  holds(group: string, what: string, condition: boolean): boolean {
    return this.same(group, what, condition, true);
  }

  /** Runs some checks; if they break down, that is one more failure. */
  async within(group: string, what: string, checks: () => Promise<void> | void): Promise<void> {
    try {
      await checks();
    } catch (error) {
      this.group(group).failures.push(`${what}: ${error instanceof Error ? error.message : error}`);
    }
  }

  /** Prints a line a group and the totals; returns whether all is well. */
  report(): boolean {
    let passed = 0;
    let failed = 0;
    for (const [name, { passed: good, failures }] of this.groups) {
      if (good + failures.length === 0) failures.push("nothing was checked");
      passed += good;
      failed += failures.length;
      for (const failure of failures.slice(0, shown)) console.log(`FAILED ${name}: ${printable(failure)}`);
      if (failures.length > shown) console.log(`FAILED ${name}: and ${failures.length - shown} more`);
    }
    for (const [name, group] of this.groups) {
      console.log(`${name.padEnd(24)} ${group.passed} passed, ${group.failures.length} failed`);
    }
    console.log(`${passed} passed, ${failed} failed`);
    return failed === 0;
  }

  private group(name: string): Group {
    const group = this.groups.get(name);
    if (!group) throw new Error(`no group is called ${name}`);
    return group;
  }
}

function firstDifference(ours: Json, theirs: Json, at: string): string | undefined {
  if (Object.is(ours, theirs)) return undefined;
  const bothObjects = typeof ours === "object" && typeof theirs === "object" && ours !== null && theirs !== null;
  if (!bothObjects || Array.isArray(ours) !== Array.isArray(theirs)) {
    return `${at || "value"} is ${short(ours)}, expected ${short(theirs)}`;
  }
  for (const key of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
    const difference = firstDifference(ours[key], theirs[key], at ? `${at}.${key}` : key);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function short(value: Json): string {
  const text = JSON.stringify(value) ?? "absent";
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

function printable(text: string): string {
  return text.replace(/[\0-\x1f\x7f]/g, char => JSON.stringify(char).slice(1, -1));
}
