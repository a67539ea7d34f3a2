import { lockOrganizationNow } from '../../../platform/clock/organization-clock.ts';
import { realNowExactMs } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import type { Db, Tx } from '../../../platform/db/connect.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import type { SystemDeps } from '../../../platform/records/system-transaction.ts';
import { transact } from '../../../platform/records/transact.ts';
import { doorSettings } from '../ai-doors/door-settings.ts';
import { readAiSettings } from '../ai-doors/queries.ts';
import { storeEachOrRefuse } from '../events/commands.ts';
import type { IncomingBatch } from '../events/incoming-event.ts';
import { isoOfMs } from '../events/timestamps.ts';
import {
  discardOpenDeadLetters,
  failDeadLetters,
  listConnectorCodes,
  lockOpenDeadLetters,
  type OpenLetters,
  resolveDeadLetters,
  type WholeDeadLetter,
} from './queries.ts';
import { batchOfLetter, type Failure, failureOf } from './read-again.ts';

/** How many dead letters share a transaction: each may keep 256 KiB. */
const RETRIED_AT_ONCE = 100;
const DISCARDED_AT_ONCE = 1000;

/** Which open dead letters; without a connector or codes those of every one. */
export interface AskedLetters {
  organization: { id: OrganizationId; sandbox: boolean };
  connector?: string | undefined;
  codes?: readonly string[] | undefined;
}

/** What became of dead letters so far. */
export interface Resolved {
  /** Retried, or discarded. */
  resolved: number;
  /** Wrong again: they stay open, with the new reason. */
  failed: number;
  /** Only a part was kept, so that they need a corrected payload: they stay open. */
  cut: number;
}

type Say = (so: Readonly<Resolved>) => void;
const nothing = (): Resolved => ({ resolved: 0, failed: 0, cut: 0 });

/**
 * Tries all open dead letters again as they came, the oldest first, each as its own retry would: all its events are
 * stored, or it stays open. A page of them is one transaction, so that a run that is ended at any instant has done some
 * pages whole; started again it goes on with what is open.
 *
 * say  called after each page
 *
 * @throws Refusal 405 test_clock_advancing, while the organization's test clock advances
 * Rule: streams.md#retry.
 */
export async function retryAll(deps: SystemDeps, asked: AskedLetters, say: Say = () => {}): Promise<Resolved> {
  const { id: organizationId, sandbox } = asked.organization;
  const so = nothing();
  await forEachPage(deps.sql, asked, async (page) => {
    let last: string | undefined;
    const present = (tx: Tx) => lockOrganizationNow({ db: tx, organizationId }, sandbox);
    await transact(deps, asked.organization, present, async (ctx) => {
      const letters = await lockOpenDeadLetters(ctx, page, RETRIED_AT_ONCE);
      last = letters.length < RETRIED_AT_ONCE ? undefined : letters.at(-1)!.id;
      const whole = letters.filter(({ is_cut: isCut }) => !isCut);
      so.cut += letters.length - whole.length;
      const failed = await retryPage(ctx, whole);
      so.failed += failed;
      so.resolved += whole.length - failed;
    });
    say(so);
    return last;
  });
  return so;
}

/** Discards all open dead letters, a thousand in a transaction. */
export async function discardAll(
  { sql }: Pick<SystemDeps, 'sql'>,
  asked: AskedLetters,
  say: Say = () => {},
): Promise<Resolved> {
  const so = nothing();
  await forEachPage(sql, asked, async (page) => {
    const discarded = await discardOpenDeadLetters(
      { db: sql, organizationId: asked.organization.id },
      page,
      DISCARDED_AT_ONCE,
    );
    so.resolved += discarded.length;
    say(so);
    const ids = discarded.map(({ id }) => id).sort();
    return ids.length < DISCARDED_AT_ONCE ? undefined : ids.at(-1);
  });
  return so;
}

/** Connector by connector; `work` returns the last letter of its page, or undefined when there are no more. */
async function forEachPage(
  db: Db,
  { organization, connector, codes }: AskedLetters,
  work: (page: OpenLetters) => Promise<string | undefined>,
): Promise<void> {
  const all = await listConnectorCodes({ db, organizationId: organization.id });
  for (const { code } of connector === undefined ? all : [{ code: connector }]) {
    let after: string | null = null;
    do {
      after = (await work({ connector: code, codes: codes ?? null, after })) ?? null;
    } while (after !== null);
  }
}

/** @returns how many failed again */
async function retryPage(ctx: Context, letters: readonly WholeDeadLetter[]): Promise<number> {
  if (letters.length === 0) return 0;
  const { cloudEventTypes: types } = doorSettings(await readAiSettings(ctx));
  const now = isoOfMs(realNowExactMs());
  const failures = new Map<WholeDeadLetter, Failure>();
  const batches = new Map<WholeDeadLetter, IncomingBatch>();
  for (const letter of letters) {
    const read = batchOfLetter(ctx, letter, { types, now });
    if ('code' in read) failures.set(letter, read);
    else batches.set(letter, read);
  }
  const verdicts = await storeEachOrRefuse(ctx, [...batches.values()], now);
  for (const [index, letter] of [...batches.keys()].entries()) {
    const failure = failureOf(verdicts[index]!, letter.payload);
    if (failure) failures.set(letter, failure);
  }
  const stored = letters.filter((letter) => !failures.has(letter)).map(({ id }) => id);
  const failed = [...failures].map(([{ id }, { code, message }]) => ({
    id,
    error_code: code,
    error_message: message,
  }));
  // Sent together.
  await Promise.all([
    stored.length > 0 ? resolveDeadLetters(ctx, stored) : undefined,
    failed.length > 0 ? failDeadLetters(ctx, failed) : undefined,
  ]);
  return failed.length;
}
