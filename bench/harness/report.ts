import { writeFileSync } from 'node:fs';
import { formatRatio, type Goal, type GoalId, goals, judge, type Status } from './goals.ts';
import type { Ratio } from './rounds.ts';

/** What a section found: ratios, figures that explain them, and whether what was stored is right. */
export interface Findings {
  ratios: Partial<Record<GoalId, Ratio>>;
  /** Absolute figures, printed with --absolute: `stock Express` → `8 123 /s`. */
  absolute: Record<string, string>;
  /** How something was measured, where that is not obvious. */
  notes: string[];
  /** Correctness: what was expected and found; a mismatch fails the bench whatever its speed. */
  checks: Check[];
}

export interface Check {
  what: string;
  expected: number | string;
  found: number | string;
}

export const emptyFindings = (): Findings => ({ ratios: {}, absolute: {}, notes: [], checks: [] });

export interface Line {
  id: GoalId;
  status: Status;
  ratio?: Ratio;
  /** Why it was skipped. */
  reason?: string;
}

const HEADINGS = ['id', 'ratio', 'spread', 'floor', 'goal', 'status', 'what'] as const;

export function lineOf(id: GoalId, ratio: Ratio): Line {
  return { id, ratio, status: judge(goals[id], ratio.median, ratio.isNoisy) };
}

export function printHeadings(): void {
  print([...HEADINGS]);
}

export function printLine({ id, ratio, status, reason }: Line): void {
  const goal: Goal = goals[id];
  const show = (value: number) => formatRatio(goal, value);
  print([
    id,
    ratio ? show(ratio.median) : '-',
    ratio ? `${show(ratio.least)} to ${show(ratio.greatest)}` : '-',
    show(goal.floor) + (goal.estimated ? '†' : ''),
    show(goal.goal),
    status,
    reason ? `${goal.what} (${reason})` : goal.what,
  ]);
}

export function printFindings(findings: Findings, absolute: boolean): void {
  for (const note of findings.notes) console.log(`     ${note}`);
  if (absolute) for (const [name, value] of Object.entries(findings.absolute)) console.log(`     ${name}: ${value}`);
  for (const check of findings.checks) {
    if (isRight(check)) continue;
    console.log(`     WRONG: ${check.what}: expected ${check.expected}, found ${check.found}`);
  }
  const right = findings.checks.filter(isRight).length;
  if (findings.checks.length > 0) console.log(`     ${right} of ${findings.checks.length} correctness checks hold`);
}

const isRight = ({ expected, found }: Check): boolean => expected === found;

/** Whether the run fails: a missed floor that was not estimated, or something stored wrongly. */
export const fails = (lines: Line[], checks: Check[]): boolean =>
  lines.some(({ id, status }) => status === 'below floor' && !(goals[id] as Goal).estimated) ||
  checks.some((check) => !isRight(check));

export function writeJson(file: string, result: object): void {
  writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`);
}

const WIDTHS = [5, 9, 19, 9, 9, 12];

function print(cells: string[]): void {
  console.log(cells.map((cell, index) => cell.padEnd(WIDTHS[index] ?? 0)).join(' '));
}
