import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { realNow } from '../../../platform/clock/real-clock.ts';
import { type Log, ofOrganization } from '../../../platform/log/log.ts';
import type { Metrics } from '../../../platform/metrics/metrics.ts';
import {
  type Lag,
  ServiceTrouble,
  type SourceHost,
  SourceTrouble,
  type StreamSource,
} from '../../../platform/streams/source.ts';
import { createDeadLetterRoom, type DeadLetterLimits, DeadLettersFull } from './dead-letter-room.ts';
import { createIntake } from './intake.ts';
import { enterConnector, leaveReading, type ReaderState, sayReading } from './readers.ts';
import { recordsOf } from './records-of-source.ts';
import {
  ClockAdvances,
  type ConnectorOf,
  type Outcome,
  readMessages,
  type StreamDeps,
  storeMessages,
} from './store-messages.ts';

/** How often a process says what it does, and looks whether somebody paused the connector. */
const SAY_EVERY_MS = 2000;
/** Wait before a source that failed is read again: doubled up to the longest. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** So long a source must have been read before its next failure waits the first time only. */
const STEADY_MS = 60_000;
const NOT_READ = 'a stream is not read';
const NO_LAG: Lag = { messages: null, seconds: null };
const ERROR_MAX = 500;
const SILENT = { status: 'retrying', error: 'the source does not answer' } as const;
/** How long a source may take to say its lag: a broker that is silent must not silence the process. */
const LAG_WITHIN_MS = 1000;
/** After so long without that answer the source counts as silent; requests to it take minutes to fail. */
const SILENT_AFTER_MS = 10_000;
/** So long after a failure of the service the source is read as before, where it had nothing to store meanwhile. */
const CALM_AFTER_MS = 10_000;

export type ConnectorDeps = StreamDeps & { log: Log; metrics: Metrics; deadLetters?: DeadLetterLimits };

/** A connector that is read. */
export interface Running {
  state(): ReaderState;
  /** Ends reading; what is in a transaction is committed. */
  close(): Promise<void>;
}

/**
 * Reads a source and stores its messages until it is closed: again and again when the source fails, not at all while
 * somebody pauses the connector.
 *
 * Rules: streams.md#connectors, streams.md#when-something-is-away.
 */
export function runConnector(
  deps: ConnectorDeps,
  connector: ConnectorOf & { kind: string },
  source: StreamSource,
): Running {
  const ended = new AbortController();
  const reader = randomUUID();
  const log = ofOrganization(deps.log, connector.organizationId).child({ connector: connector.code });
  const letters = createDeadLetterRoom(deps.sql, connector, deps.deadLetters);
  const state: ReaderState = { status: 'starting', error: null, lag: NO_LAG };
  let isPaused = false;
  let lagOf: () => Lag | Promise<Lag> = () => NO_LAG;
  let asked: Promise<Lag> | undefined;
  let askedAt = 0;
  let reading: { end: AbortController; waiting(): number; isSaid: boolean } | undefined;
  /** When the service last failed; undefined once it has stored something, or has been calm. */
  let failedAt: number | undefined;

  /** One sentence, whichever statement has met what is wrong. */
  const serviceFails = (error: unknown) => {
    failedAt = performance.now();
    Object.assign(state, { status: 'retrying', error: `events cannot be stored, and wait: ${wordsOf(error)}` });
  };

  const serviceWorks = () => {
    failedAt = undefined;
    if (reading?.isSaid) Object.assign(state, { status: 'running', error: null });
  };

  /** Asks again only when the former answer has come. */
  async function lag(): Promise<Lag> {
    if (!asked) askedAt = performance.now();
    asked ??= (async () => lagOf())()
      .catch(() => NO_LAG) // the source is away, and its loop says so
      .finally(() => {
        asked = undefined;
      });
    const answered = new AbortController();
    const late = pause(LAG_WITHIN_MS, NO_LAG, { signal: answered.signal }).catch(() => NO_LAG); // it was answered
    const said = await Promise.race([asked, late]);
    answered.abort();
    return said;
  }

  const say = async () => {
    state.lag = await lag();
    measureLag(deps.metrics, connector, state.lag);
    const isSilent = asked !== undefined && performance.now() - askedAt > SILENT_AFTER_MS;
    const said = isSilent && state.status === 'running' ? { ...state, ...SILENT } : state;
    const [row] = await sayReading(deps.sql, connector, reader, said);
    isPaused = row?.is_paused ?? false;
    if (isPaused) reading?.end.abort(new Error('paused'));
    const isCalm = failedAt !== undefined && performance.now() - failedAt > CALM_AFTER_MS;
    if (isCalm && reading?.isSaid && reading.waiting() === 0) serviceWorks();
  };

  async function heartbeat(): Promise<void> {
    while (!ended.signal.aborted) {
      await say().catch(() => {}); // the database is away: storing says so
      await pause(SAY_EVERY_MS, undefined, { signal: ended.signal }).catch(() => {}); // closed
    }
  }

  async function readOnce(): Promise<void> {
    const end = new AbortController();
    const signal = AbortSignal.any([ended.signal, end.signal]);
    const intake = createIntake({
      signal,
      read: (messages) => readMessages(deps, connector, messages),
      async store(read) {
        await letters.demand();
        return storeMessages(deps, connector, read);
      },
      onFailure(error) {
        serviceFails(error);
        log.warn({ err: error }, 'messages of a stream wait for the database');
      },
      onStored(outcome, seconds) {
        current.isSaid = true;
        serviceWorks();
        letters.add({ letters: outcome.dead, bytes: outcome.deadBytes });
        measure(deps.metrics, connector, outcome, seconds);
      },
    });
    const current = { end, waiting: intake.waiting, isSaid: false };
    reading = current;
    const host: SourceHost = {
      organizationId: connector.organizationId,
      connector: connector.code,
      signal,
      log,
      deliver: intake.deliver,
      room: intake.room,
      ...recordsOf(deps.sql, connector, reader),
      isReading() {
        current.isSaid = true;
        if (failedAt === undefined) serviceWorks();
      },
      lag(of) {
        lagOf = of;
      },
      now: realNow,
    };
    try {
      await source.run(host);
    } finally {
      lagOf = () => NO_LAG;
      asked = undefined;
      end.abort(new Error('the source has ended')); // what it left undelivered is read again
      await intake.idle();
      reading = undefined;
    }
  }

  async function loop(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    const wait = (ms: number) => pause(ms, undefined, { signal: ended.signal }).catch(() => {}); // closed
    while (!ended.signal.aborted) {
      if (isPaused) {
        failedAt = undefined;
        Object.assign(state, { status: 'paused', error: null });
        await wait(SAY_EVERY_MS);
        continue;
      }
      const from = performance.now();
      try {
        if (failedAt === undefined) Object.assign(state, { status: 'starting' });
        await readOnce();
        if (!isPaused && !ended.signal.aborted) throw new SourceTrouble('the source has ended');
      } catch (error) {
        if (ended.signal.aborted || isPaused) continue;
        if (performance.now() - from > STEADY_MS) pauseMs = FIRST_PAUSE_MS;
        if (error instanceof ServiceTrouble) serviceFails(error.failure);
        else Object.assign(state, { status: 'retrying', error: wordsOf(error) });
        log.warn(error instanceof SourceTrouble ? { error: error.message } : { err: failureOf(error) }, NOT_READ);
        await wait(pauseMs);
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      }
    }
  }

  async function untilEntered(): Promise<void> {
    while (!ended.signal.aborted) {
      try {
        await enterConnector(deps.sql, connector, connector.kind);
        return;
      } catch (error) {
        serviceFails(error);
        log.warn({ err: error }, 'a connector waits for the database');
        await say().catch(() => {}); // the database is away, or the next one does
        await pause(FIRST_PAUSE_MS, undefined, { signal: ended.signal }).catch(() => {}); // closed
      }
    }
  }

  async function start(): Promise<void> {
    await untilEntered();
    await say().catch(() => {}); // the next one does
    await Promise.all([heartbeat(), loop()]);
  }

  const running = start();
  return {
    state: () => state,
    async close() {
      ended.abort(new Error('the process ends'));
      await running;
      await leaveReading(deps.sql, connector, reader).catch(() => {}); // it is forgotten by itself
    },
  };
}

/** What is wrong beneath an error, for the log. */
const failureOf = (error: unknown): unknown => (error instanceof ServiceTrouble ? error.failure : error);

/**
 * What is wrong, for who reads the stream as for the operator: in the words of the source. Of anything else, such as
 * the database that is away, the log has the message, which names hosts and files of the service; here stands its code.
 */
function wordsOf(error: unknown): string {
  if (error instanceof SourceTrouble) return error.message.slice(0, ERROR_MAX);
  if (error instanceof ClockAdvances || error instanceof DeadLettersFull) return error.message;
  const { name, code } = error as { name?: string; code?: string | number };
  return `the service has trouble of its own (${code ?? name ?? 'unknown'})`;
}

const labelsOf = ({ organizationId, code }: ConnectorOf) => ({ organization: organizationId, connector: code });

function measure(metrics: Metrics, connector: ConnectorOf, outcome: Outcome, seconds: number): void {
  const labels = labelsOf(connector);
  metrics.streamMessages.inc(labels, outcome.taken);
  for (const verdict of ['stored', 'replayed', 'dead'] as const) {
    if (outcome[verdict] > 0) metrics.streamEvents.inc({ ...labels, outcome: verdict }, outcome[verdict]);
  }
  metrics.streamBatchSeconds.observe(labels, seconds);
}

function measureLag(metrics: Metrics, connector: ConnectorOf, { messages, seconds }: Lag): void {
  const labels = labelsOf(connector);
  if (messages === null) metrics.streamLagMessages.remove(labels);
  else metrics.streamLagMessages.set(labels, messages);
  if (seconds === null) metrics.streamLagSeconds.remove(labels);
  else metrics.streamLagSeconds.set(labels, seconds);
}
