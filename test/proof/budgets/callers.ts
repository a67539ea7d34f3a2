import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { DecidedBudget } from '../../../src/areas/usage/budget-holds/schema.ts';

/** Longer than the service takes for any answer on a machine with nothing to spare. */
const PATIENCE_MS = 60_000;
/** How long a hold lives that its caller settles, whatever happens meanwhile; and one that is left alone. */
const HOLD_SECONDS = 600;
const LEFT_SECONDS = 3;
const MOST_HELD = 50;

/** What a caller was told. */
export interface Answered {
  hold_key: string;
  allowed: boolean;
  reasons: string[];
  exceeded: string[];
  budgets: DecidedBudget[];
  isReplayed: boolean;
}

export interface CallersTerms {
  urls: readonly string[];
  apiKey: string;
  callers: number;
  seconds: number;
  /** Properties of a decision, by which budgets are chosen; a caller begins another `round` after a few calls. */
  propertiesOf(caller: number, round: number): Record<string, string>;
  callsARound: number;
  /** Of a call, whether it is sent without a hold. */
  isUnheld(number: number): boolean;
  /** Unique among all runs on one organization. */
  name: string;
}

export interface CallersReport {
  answers: Answered[];
  /** Tokens that were sent without a hold, and their calls. */
  unheld: number;
  /** Tries that were not answered, or by another status than 200, by status or error. */
  repeated: Map<string, number>;
  /** Milliseconds of answers at the first try. */
  tookMs: number[];
}

/**
 * Callers that hold what a call of a model may take, settle the one before by what its provider reported, and repeat
 * whatever is not answered, with the same key. One in ten holds is left alone.
 */
export async function runCallers(terms: CallersTerms): Promise<CallersReport> {
  const report: CallersReport = { answers: [], unheld: 0, repeated: new Map(), tookMs: [] };
  const agent = new Agent({ connections: terms.callers, headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS });
  const started = performance.now();
  const work = Array.from({ length: terms.callers }, (_, caller) =>
    runCaller(terms, { caller, agent, started, report }),
  );
  await Promise.all(work);
  await agent.close();
  return report;
}

interface Running {
  caller: number;
  agent: Agent;
  started: number;
  report: CallersReport;
}

async function runCaller(terms: CallersTerms, running: Running): Promise<void> {
  const { caller, started } = running;
  const random = mulberry(caller + 1);
  let settle: object[] = [];
  for (let number = 0; ; number += 1) {
    const elapsed = (performance.now() - started) / 1000;
    if (elapsed >= terms.seconds) break;
    const properties = terms.propertiesOf(caller, Math.floor(number / terms.callsARound));
    const key = `${terms.name}/${caller}/${number}`;
    const held = 1 + Math.floor(random() * MOST_HELD);
    // Of a hold 30 to 100 % are used.
    const used = Math.max(1, Math.ceil(held * (0.3 + 0.7 * random())));
    if (terms.isUnheld(number)) {
      await post(terms, running, '/ai/usage', {
        ai_usage: { ...usageOf(key, used, properties), external_subscription_id: 'ada-1' },
      });
      running.report.unheld += used;
      continue;
    }
    const isLeft = random() < 0.1;
    const decision = {
      hold_key: key,
      external_subscription_id: 'ada-1',
      properties,
      tokens: String(held),
      expires_in_seconds: isLeft ? LEFT_SECONDS : HOLD_SECONDS,
      settle,
    };
    const { body, isReplayed } = await post(terms, running, '/budget_decisions', { decision });
    const answer = (body as { decision: Answered }).decision;
    running.report.answers.push({ ...answer, isReplayed });
    settle = answer.allowed && !isLeft ? [{ hold_key: key, usage: usageOf(key, used, properties) }] : [];
    if (!answer.allowed) await sleep(20);
  }
  if (settle.length > 0)
    await post(terms, running, '/budget_decisions', { decision: { external_subscription_id: 'ada-1', settle } });
}

/** What a provider reported about a call, in one of three formats. */
function usageOf(id: string, tokens: number, properties: object): object {
  const output = Math.floor(tokens / 3);
  const input = tokens - output;
  const call = { transaction_id: id, properties };
  switch (tokens % 3) {
    case 0:
      return {
        ...call,
        body: { model: 'alpha', usage: { prompt_tokens: input, completion_tokens: output, total_tokens: tokens } },
      };
    case 1:
      return {
        ...call,
        body: { type: 'message', model: 'beta', usage: { input_tokens: input, output_tokens: output } },
      };
    default:
      return {
        ...call,
        body: {
          modelVersion: 'gamma',
          usageMetadata: { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: tokens },
        },
      };
  }
}

/** Sends a body until it is answered 200. */
async function post(
  { urls, apiKey, seconds }: CallersTerms,
  { caller, agent, report }: Running,
  path: string,
  body: object,
): Promise<{ body: unknown; isReplayed: boolean }> {
  const gaveUpAt = performance.now() + (seconds + 120) * 1000;
  for (let tried = 0; ; tried += 1) {
    const began = performance.now();
    const outcome = await tryPost(`${urls[(caller + tried) % urls.length]}/api/v1${path}`, { apiKey, agent, body });
    if ('answer' in outcome) {
      if (tried === 0) report.tookMs.push(performance.now() - began);
      return outcome.answer;
    }
    if (outcome.isFinal || performance.now() > gaveUpAt) throw new Error(`${path}: ${outcome.why}`);
    report.repeated.set(outcome.why, (report.repeated.get(outcome.why) ?? 0) + 1);
    await sleep(50);
  }
}

type Outcome = { answer: { body: unknown; isReplayed: boolean } } | { why: string; isFinal: boolean };

async function tryPost(
  url: string,
  { apiKey, agent, body }: { apiKey: string; agent: Agent; body: object },
): Promise<Outcome> {
  try {
    const response = await request(url, {
      method: 'POST',
      dispatcher: agent,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.body.text();
    if (response.statusCode === 200)
      return { answer: { body: JSON.parse(text), isReplayed: response.headers['x-svc-replayed'] === 'true' } };
    const isFinal = response.statusCode < 500 && response.statusCode !== 429;
    return { why: isFinal ? `${response.statusCode} ${text.slice(0, 300)}` : String(response.statusCode), isFinal };
  } catch (error) {
    return { why: (error as { code?: string }).code ?? String(error), isFinal: false };
  }
}

/** Numbers from 0 to 1, the same in every run. */
function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
