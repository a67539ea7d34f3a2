import { writeFileSync } from 'node:fs';
import { ceilings, tooMuch, type Unit } from './ceilings.ts';
import { COUNTED, type Cost, type Counted } from './costs.ts';
import { formatRatio, type Goal, type GoalId, goals, judge, type Status } from './goals.ts';
import type { Ratio } from './rounds.ts';

/** What a section found: ratios, figures that explain them, and whether what was stored is right. */
export interface Findings {
  ratios: Partial<Record<GoalId, Ratio>>;
  /** What the units behind the ratios cost. */
  costs: Partial<Record<Unit, Cost>>;
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

export const emptyFindings = (): Findings => ({ ratios: {}, costs: {}, absolute: {}, notes: [], checks: [] });

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

const WORDS: Record<Counted, string> = {
  statements: 'statements',
  roundTrips: 'round trips to Postgres',
  redisCommands: 'Redis commands',
  walBytes: 'bytes of WAL without page images',
  bufferHits: 'pages looked at',
};

/** Of the Redis commands of a unit. */
const SHOWN_COMMANDS = 8;

/** Processor time of a unit by process, then its counts with their ceilings. */
function printCost(unit: Unit, cost: Cost): void {
  const times = Object.entries(cost.cpuUs);
  const total = times.reduce((sum, [, us]) => sum + us, 0);
  const parts = times.map(([name, us]) => `${name} ${us.toFixed(0)}`).join(', ');
  console.log(
    `     ${unit} (${cost.units}): ${total.toFixed(0)} us of processor time, goal ${ceilings[unit].cpuUs}: ${parts}`,
  );
  const over = tooMuch(unit, cost);
  for (const name of COUNTED) {
    const mark = over.includes(name) ? 'TOO MUCH: ' : '';
    console.log(`       ${mark}${figure(cost[name])} ${WORDS[name]}, at most ${figure(ceilings[unit][name])}`);
  }
  console.log(`       ${figure(cost.pageImageBytes)} bytes of page images, first changes of pages after a checkpoint`);
  const commands = Object.entries(cost.redisByCommand).sort(([, a], [, b]) => b - a);
  const most = commands.slice(0, SHOWN_COMMANDS).map(([name, calls]) => `${name} ${figure(calls)}`);
  console.log(`       of Redis: ${most.join(', ')}`);
}

const figure = (value: number): string => value.toFixed(value < 10 ? 3 : 0);

export function printFindings(findings: Findings, absolute: boolean): void {
  for (const note of findings.notes) console.log(`     ${note}`);
  if (absolute) for (const [name, value] of Object.entries(findings.absolute)) console.log(`     ${name}: ${value}`);
  for (const [unit, cost] of Object.entries(findings.costs)) printCost(unit as Unit, cost);
  for (const check of findings.checks) {
    if (isRight(check)) continue;
    console.log(`     WRONG: ${check.what}: expected ${check.expected}, found ${check.found}`);
  }
  const right = findings.checks.filter(isRight).length;
  if (findings.checks.length > 0) console.log(`     ${right} of ${findings.checks.length} correctness checks hold`);
}

const isRight = ({ expected, found }: Check): boolean => expected === found;

/** Whether the run fails: a missed floor that was not estimated, a count above its ceiling, something stored wrong. */
export const fails = (lines: Line[], checks: Check[], costs: Findings['costs'] = {}): boolean =>
  Object.entries(costs).some(([unit, cost]) => tooMuch(unit as Unit, cost).length > 0) ||
  lines.some(({ id, status }) => status === 'below floor' && !(goals[id] as Goal).estimated) ||
  checks.some((check) => !isRight(check));

export function writeJson(file: string, result: object): void {
  writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`);
}

const WIDTHS = [5, 9, 19, 9, 9, 12];

function print(cells: string[]): void {
  console.log(cells.map((cell, index) => cell.padEnd(WIDTHS[index] ?? 0)).join(' '));
}
