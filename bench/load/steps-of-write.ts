import { median } from '../harness/rounds.ts';
import type { Stamp } from '../processes/stamp-steps.ts';

/** Where the time of a write goes, in the order in which it passes. */
export const STEPS = [
  'connection and HTTP',
  'key, limiter, validation',
  'woken by the queue',
  'job taken',
  'statements',
  'last statement and commit',
  'reply made',
  'reply on its way',
  'answer',
] as const;
export type Step = (typeof STEPS)[number];

/** One write: its time by step in milliseconds, and what its worker sent. */
export interface StepsOfWrite {
  ms: Record<Step, number>;
  /** What the caller measured, in milliseconds. */
  whole: number;
  /** Milliseconds from each round trip to Postgres to the next, with the worker's own work between. */
  trips: number[];
  /** Of the worker, until the reply. */
  redisWrites: number;
}

const NS_OF_MS = 1e6;
/** Keys of the scripts with which BullMQ puts and takes jobs. */
const OF_QUEUE = /:wait\r\n/;
const IS_REPLY = /publish\r\n.*:reply:/is;

/**
 * Divides the time of one write after another into steps. Nothing else is under way, but the service also does what it
 * does by itself; so a figure is the median of many writes.
 *
 * wholeMs  what the caller measured, by write
 * @returns the steps of each write whose way is complete
 */
export function stepsOfWrites(wholeMs: readonly number[], ingress: Stamp[], workers: Stamp[]): StepsOfWrite[] {
  const requests = ingress.filter(({ what }) => what === 'request');
  const answers = ingress.filter(({ what }) => what === 'answer');
  return wholeMs.flatMap((whole, write) => {
    const [begin, end] = [requests[write]?.at, answers[write]?.at];
    if (begin === undefined || end === undefined) return [];
    const within = ({ at }: Stamp) => at >= begin && at <= end;
    return stepsOf(whole, ingress.filter(within), workers.filter(within)) ?? [];
  });
}

function stepsOf(whole: number, ingress: Stamp[], workers: Stamp[]): StepsOfWrite | undefined {
  const begin = ingress[0]!.at;
  const end = ingress.at(-1)!.at;
  const put = ingress.find(({ what, text }) => what === 'redis sent' && OF_QUEUE.test(text!))?.at;
  const replied = workers.find(({ what, text }) => what === 'redis sent' && IS_REPLY.test(text!))?.at;
  if (put === undefined || replied === undefined) return undefined;
  const ofWorker = workers.filter(({ at }) => at > put && at < replied);
  const woken = ofWorker.find(({ what }) => what === 'redis came')?.at;
  const sent = ofWorker.filter(({ what }) => what === 'postgres sent');
  const came = ofWorker.filter(({ what }) => what === 'postgres came').at(-1)?.at;
  const heard = ingress.find(({ at, what }) => what === 'redis came' && at > replied)?.at;
  if (woken === undefined || came === undefined || heard === undefined || sent.length === 0) return undefined;
  const [first, last] = [sent[0]!.at, sent.at(-1)!.at];
  const instants = [begin, put, woken, first, last, came, replied, heard, end];
  const between = [...sent.map(({ at }) => at), came];
  const [, ...steps] = STEPS;
  const ms = Object.fromEntries(
    steps.map((step, index) => [step, (instants[index + 1]! - instants[index]!) / NS_OF_MS]),
  );
  return {
    ms: { ...ms, 'connection and HTTP': whole - (end - begin) / NS_OF_MS } as Record<Step, number>,
    whole,
    trips: sent.map(({ at }, index) => (between[index + 1]! - at) / NS_OF_MS),
    redisWrites: ofWorker.filter(({ what }) => what === 'redis sent').length,
  };
}

/** The median of each step. They do not add up to the median of the whole exactly. */
export function medianSteps(writes: readonly StepsOfWrite[]): StepsOfWrite {
  const usual = median(writes.map(({ trips }) => trips.length));
  const likeUsual = writes.filter(({ trips }) => trips.length === usual);
  return {
    ms: Object.fromEntries(STEPS.map((step) => [step, median(writes.map(({ ms }) => ms[step]))])) as StepsOfWrite['ms'],
    whole: median(writes.map(({ whole }) => whole)),
    trips: Array.from({ length: usual }, (_, trip) => median(likeUsual.map(({ trips }) => trips[trip]!))),
    redisWrites: median(writes.map(({ redisWrites }) => redisWrites)),
  };
}
