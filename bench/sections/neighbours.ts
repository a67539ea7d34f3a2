import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';
import { createProducer, type Producer } from '../../src/platform/queue/producer.ts';
import type { Environment } from '../harness/environment.ts';
import type { Effort } from '../harness/options.ts';
import { runProgram, startProcess } from '../harness/processes.ts';
import { emptyFindings, type Findings } from '../harness/report.ts';
import { median, type Ratio, spreadOf } from '../harness/rounds.ts';
import type { Latencies, NeighbourLoad, NeighbourResult } from '../load/messages.ts';
import { type Attack, type AttackName, attacks } from './neighbours/attacks.ts';
import { openStage, type Stage } from './neighbours/stage.ts';

const PER_SECOND = 10;
/** How long an attack runs before the neighbour is measured, so that the code it calls has been compiled. */
const HEAD_START_MS = 2000;
/** How long the next quiet measurement waits for what an attack leaves behind. */
const CALM_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 100;
const AT_ONCE_MS = 50;
const KINDS = ['writes', 'reads', 'events'] as const;

interface Measured {
  attack: Attack;
  quiet: NeighbourResult;
  attacked: NeighbourResult;
  /** Answers that the attackers got, by status. */
  answers: Record<string, number>;
  sentForSeconds: number;
}

/**
 * G20 to G22: what one organization notices while another attacks the service (attacks A1 to A8, E2). Its requests come
 * at fixed instants, so that a service that stands still cannot hide it.
 */
export async function measureNeighbours(environment: Environment, effort: Effort): Promise<Findings> {
  const findings = emptyFindings();
  const workers = await startProcess(environment, 'workers/all.js');
  const ingress = await startProcess(environment, 'src/ingress/server.js');
  const producer = createProducer(environment.redis, environment.prefix);
  const stage = await openStage(environment, ingress.url);
  const seconds = effort.neighbourSeconds;
  const measure = () =>
    runProgram<NeighbourLoad, NeighbourResult>('bench/load/neighbour-child.js', {
      url: ingress.url,
      apiKey: stage.neighbourKey,
      seconds,
      perSecond: PER_SECOND,
      label: randomUUID(),
    });
  await measure(); // warms up
  const all: Measured[] = [];
  const asked = attacks.filter(({ name }) => effort.attacks?.includes(name) ?? true);
  for (const attack of asked.flatMap((each) => new Array<Attack>(effort.neighbourRounds).fill(each))) {
    await untilCalm(producer, ingress.url);
    const quiet = await measure();
    const prepared = await attack.prepare?.(stage);
    const raid = begin(attack, stage);
    await pause(HEAD_START_MS);
    const attacked = await measure();
    const { answers, sentForSeconds } = raid.stop();
    await prepared?.end();
    all.push({ attack, quiet, attacked, answers, sentForSeconds });
    findings.notes.push(...tableOf(all.at(-1)!));
  }
  const named = (name: AttackName) => all.filter(({ attack }) => attack.name === name);
  const [locked, wallet] = [named('E2 locked'), named('E2 wallet')];
  if (locked.length > 0) findings.ratios.G20 = spread(locked, 'p50Ms', ['writes', 'events']);
  if (wallet.length > 0) findings.ratios.G21 = spread(wallet, 'p99Ms', KINDS);
  if (asked.length === attacks.length)
    findings.ratios.G22 = spreadOf(all.map((each) => spread([each], 'p50Ms', KINDS).greatest));
  await stage.close();
  await producer.close();
  await Promise.all([ingress.stop(), workers.stop()]);
  return findings;
}

/** Sends the requests of an attack by all its callers until it is stopped. */
function begin(attack: Attack, stage: Stage) {
  const answers: Record<string, number> = {};
  const started = performance.now();
  let isOver = false;
  let sent = 0;
  const call = async () => {
    while (!isOver) {
      const startedAt = performance.now();
      const answer = await attack.send(stage, sent++).catch(() => 'none');
      if (!isOver) answers[String(answer)] = (answers[String(answer)] ?? 0) + 1;
      await pause(Math.max(0, attack.gapMs - (performance.now() - startedAt)));
    }
  };
  for (let caller = 0; caller < attack.callers; caller += 1) void call();
  return {
    stop() {
      isOver = true;
      return { answers, sentForSeconds: (performance.now() - started) / 1000 };
    },
  };
}

/**
 * Waits until no caller's job is left and the ingress answers at once, so that no attack disturbs the next quiet
 * measurement.
 */
async function untilCalm(producer: Producer, url: string): Promise<void> {
  const deadline = performance.now() + CALM_WITHIN_MS;
  const queues = [producer.queue('writes'), producer.queue('events')];
  let isCalm = false;
  while (!isCalm && performance.now() < deadline) {
    await pause(LOOK_EVERY_MS);
    const counts = await Promise.all(queues.map((queue) => queue.getJobCountByTypes('waiting', 'active', 'delayed')));
    const asked = performance.now();
    await (await request(`${url}/health`)).body.dump();
    isCalm = counts.every((count) => count === 0) && performance.now() - asked < AT_ONCE_MS;
  }
}

/** The kind of request that suffers most, each by its median over the rounds. */
function spread(rounds: Measured[], figure: 'p50Ms' | 'p99Ms', kinds: readonly (keyof NeighbourResult)[]): Ratio {
  const ratios = kinds.map((kind) => rounds.map(({ attacked, quiet }) => attacked[kind][figure] / quiet[kind][figure]));
  return { ...spreadOf(ratios.flat()), median: Math.max(...ratios.map(median)) };
}

const HEADINGS = ['', 'p50 quiet', 'attack', 'p99 quiet', 'attack', 'failed'];
const WIDTHS = [10, 10, 9, 10, 9, 6];

/** What the neighbour noticed of one attack, in milliseconds. */
function tableOf({ attack, quiet, attacked, answers, sentForSeconds }: Measured): string[] {
  const rate = Object.entries(answers).map(([status, count]) => `${status}: ${(count / sentForSeconds).toFixed(1)}/s`);
  const row = (cells: string[]) => cells.map((cell, index) => cell.padStart(WIDTHS[index]!)).join('');
  const ms = (value: number) => value.toFixed(0);
  const figures = (before: Latencies, after: Latencies) => [
    ...[before.p50Ms, after.p50Ms, before.p99Ms, after.p99Ms].map(ms),
    String(after.failed),
  ];
  return [
    `${attack.name}: ${attack.what} (${rate.join(', ') || 'no answer'})`,
    row(HEADINGS),
    ...KINDS.map((kind) => row([kind, ...figures(quiet[kind], attacked[kind])])),
  ];
}
