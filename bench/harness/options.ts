import { Command, InvalidArgumentError } from 'commander';

/** What a run without --only measures. */
const USUAL = [
  'http',
  'ingest',
  'write-through',
  'usage',
  'webhooks',
  'queue',
  'billing',
  'window',
  'heavy-usage',
] as const;
/** Sections that take a minute and more; they run only when they are requested by name. */
export const SECTIONS = [
  ...USUAL,
  ...([
    'neighbours',
    'dead-endpoint',
    'reconcile',
    'cluster',
    'ticks',
    'latency',
    'keys',
    'positions',
    'cells',
    'former-key',
    'replica',
    'hot-row',
    'streams',
    'ai-usage',
  ] as const),
] as const;
/** What neighbours notice (attacks A1 to A8, E2), and the most expensive requests that the door accepts. */
export const ATTACK_NAMES = [
  ...(['A1', 'A2', 'A3', 'A4', 'A5', 'A6', 'A7', 'A8'] as const),
  'E2 locked',
  'E2 wallet',
  'events',
  'bodies',
  'dear events',
  'heal',
  'previews',
] as const;
export type SectionName = (typeof SECTIONS)[number];

/** How long and how often everything is measured (benchmark.md#harness). */
export interface Effort {
  rounds: number;
  warmUpSeconds: number;
  measuredSeconds: number;
  saturatingSeconds: number;
  openLoopSeconds: number;
  preloadedRows: number;
  usageRows: number;
  /** Events of the great window. */
  windowRows: number;
  /** Subscriptions that are due at one instant, and how often that is measured. */
  burst: number;
  bursts: number;
  /** Payments that are compared with those of a provider. */
  payments: number;
  /** Customers that are due in one tick, and how often such a tick is measured. */
  due: number;
  dueRounds: number;
  /** Keys of events that are kept. */
  keys: number;
  /** A neighbour is measured so long in quiet, and so long under each attack. */
  neighbourSeconds: number;
  /** So many times, each in quiet and then under attack. */
  neighbourRounds: number;
  /** Names of the attacks to measure; all without it. */
  attacks?: readonly string[] | undefined;
}

export interface Options {
  only: readonly SectionName[];
  quick: boolean;
  absolute: boolean;
  json: string | undefined;
  effort: Effort;
}

/** An attack that is requested by name is repeated, because its p99 of one round is a single slow answer. */
const ROUNDS_OF_NAMED = 5;

const FULL: Effort = {
  rounds: 5,
  warmUpSeconds: 1,
  measuredSeconds: 3,
  saturatingSeconds: 30,
  openLoopSeconds: 5,
  preloadedRows: 1_000_000,
  usageRows: 10_000_000,
  windowRows: 20_000_000,
  burst: 10_000,
  bursts: 1,
  payments: 100_000,
  due: 1_000_000,
  dueRounds: 2,
  keys: 50_000_000,
  neighbourSeconds: 10,
  neighbourRounds: 1,
};

const QUICK: Effort = {
  rounds: 3,
  warmUpSeconds: 0.5,
  measuredSeconds: 1.5,
  saturatingSeconds: 10,
  openLoopSeconds: 3,
  preloadedRows: 100_000,
  usageRows: 1_000_000,
  windowRows: 500_000,
  burst: 300,
  bursts: 3,
  payments: 10_000,
  due: 100_000,
  dueRounds: 3,
  keys: 5_000_000,
  neighbourSeconds: 4,
  neighbourRounds: 1,
};

export function readOptions(args: string[]): Options {
  const command = new Command('npm run bench --')
    .description('Measures the service as ratios to baselines of the same run')
    .option('--only <sections>', `some of ${SECTIONS.join(',')}`, sectionsOf, [...USUAL])
    .option('--quick', 'fewer rounds and rows, under 3 minutes', false)
    .option('--absolute', 'also print rates and times of this machine', false)
    .option('--window-rows <events>', 'events of the great window', rowsOf)
    .option(
      '--attacks <names>',
      `some attacks of the neighbours, ${ROUNDS_OF_NAMED} rounds each: "E2 wallet,A5"`,
      attacksOf,
    )
    .option('--json <file>', 'write the result as JSON')
    .parse(args, { from: 'user' });
  const given = command.opts<{
    only: SectionName[];
    quick: boolean;
    absolute: boolean;
    windowRows?: number;
    attacks?: string[];
    json?: string;
  }>();
  const usual = given.quick ? QUICK : FULL;
  const { attacks, windowRows = usual.windowRows } = given;
  const named = attacks === undefined ? {} : { attacks, neighbourRounds: ROUNDS_OF_NAMED };
  return { ...given, json: given.json, effort: { ...usual, windowRows, ...named } };
}

function rowsOf(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError(`${text} is no number of rows`);
  return Number(text);
}

function attacksOf(text: string): string[] {
  const names = text.split(',').filter((name) => name !== '');
  for (const name of names) {
    if (!ATTACK_NAMES.includes(name as (typeof ATTACK_NAMES)[number]))
      throw new InvalidArgumentError(`there is no attack ${name}`);
  }
  return names;
}

function sectionsOf(text: string): SectionName[] {
  const names = text.split(',').filter((name) => name !== '');
  for (const name of names) {
    if (!SECTIONS.includes(name as SectionName)) throw new InvalidArgumentError(`there is no section ${name}`);
  }
  return SECTIONS.filter((name) => names.includes(name));
}
