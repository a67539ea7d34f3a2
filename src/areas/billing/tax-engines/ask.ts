import { setTimeout as wait } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { isPassing } from '../../../platform/db/refusal-of-database.ts';
import type { OrganizationId, TaxDocumentId } from '../../../platform/ids.ts';
import { ofOrganization } from '../../../platform/log/log.ts';
import { paced } from '../../../platform/payments/paced-jobs.ts';
import type { Handlers } from '../../../platform/queue/worker.ts';
import type { SystemDeps } from '../../../platform/records/system-transaction.ts';
import { transactHoldingClock } from '../../../platform/records/transact.ts';
import {
  isTooMany,
  type TaxAnswer,
  type TaxDocument,
  type TaxEngine,
  type TaxOutcome,
} from '../../../platform/taxes/port.ts';
import type { JobPayload } from '../../../queues.ts';
import { engineOf, noteCall, taxEngineCalls, timed } from '../../customers/integrations/engine.ts';

import {
  findLeaseBefore,
  findTaxDocument,
  leaseQuestion,
  type TaxDocumentRow,
} from '../request-taxes/tax-documents.ts';
import { type Told, takeAnswer } from './take-answer.ts';

/** Longest wait for one answer. */
const TIMEOUT_MS = 10_000;
/** How soon a question looks again whether the call before it about the same document is over. */
const LOOK_AGAIN_MS = 1000;
/** How often a call that came too fast is repeated at once, and the longest pause before it; then retries follow. */
const MOST_REPEATS = 3;
const LONGEST_PAUSE_MS = 2000;

/**
 * Job `tax.ask`: asks an engine outside of any transaction and stores the answer in one. A question that is not due, or
 * that another worker has taken, is skipped. After a crash between call and commit the lease ends and the same document
 * goes again under the same id, so there is one record there.
 *
 * Rule: tax-engines.md#failures.
 */
export function taxHandlers(deps: SystemDeps & { redis: Redis }): Pick<Handlers, 'tax.ask'> {
  const callsOf = taxEngineCalls(deps);
  return {
    'tax.ask': paced(
      callsOf,
      async ({ organization_id: organizationId, tax_document_id: id }: JobPayload<'tax.ask'>, calls, info) => {
        const scope = { db: deps.sql, organizationId };
        const stored = await findTaxDocument(scope, id);
        if (stored?.status !== 'pending') return;
        await calls.takeTurn(stored.integration_id);
        const question = await leaseQuestion(scope, id, realNow());
        if (!question) {
          const until = await findLeaseBefore(scope, stored, realNow());
          return until && info.comeBack(Math.min(realNow().until(until).total('milliseconds') + 1, LOOK_AGAIN_MS));
        }
        await askAndKeep(deps, organizationId, question);
      },
    ),
  };
}

/**
 * Asks an engine and keeps what it says. Should what it says break what follows from it, a failure too, the call is
 * kept as one that did not come to an end, in a transaction of its own and without its body: it is listed, shown and
 * repeated like any other failure.
 */
async function askAndKeep(deps: SystemDeps, organizationId: OrganizationId, question: TaxDocumentRow): Promise<void> {
  const asked = await timed(callOf(question), async () =>
    askEngine(await engineFor(deps, organizationId, question), question),
  );
  const keep = ({ outcome, call }: typeof asked) =>
    transactHoldingClock(deps, organizationId, async (ctx) => {
      await takeAnswer(ctx, question, outcome);
      await noteCall(ctx, question.integration_id, { outcome, call });
    });
  try {
    await keep(asked);
  } catch (error) {
    if (isPassing(error)) throw error;
    ofOrganization(deps.log, organizationId).error({ tax_document_id: question.id, err: error }, 'tax answer not kept');
    const fault = { code: 'unreadable_answer', message: 'the answer could not be applied' };
    const trace = { httpStatus: asked.outcome.trace.httpStatus, body: null };
    await keep({ outcome: { kind: 'unreachable', fault, trace }, call: { ...asked.call, trace, error: fault.code } });
  }
}

/** Step `ask-tax-double`: the engine of sandboxes, which reaches no network. */
export async function askTaxDouble(ctx: Context, { tax_document_id: id }: { tax_document_id: TaxDocumentId }) {
  const question = await findTaxDocument(ctx, id);
  if (question?.status !== 'pending') return;
  const engine = await engineOf(ctx, { id: ctx.organizationId, sandbox: true }, question.integration_id);
  const asked = await timed(callOf(question), () => askEngine(engine, question));
  await takeAnswer(ctx, question, asked.outcome);
  await noteCall(ctx, question.integration_id, asked);
}

const engineFor = ({ sql, config }: SystemDeps, id: OrganizationId, question: TaxDocumentRow) =>
  engineOf({ db: sql, config }, { id, sandbox: false }, question.integration_id);

const callOf = ({ kind, invoice_id, fee_id, credit_note_id }: TaxDocumentRow) => ({
  operation: kind,
  resourceId: credit_note_id ?? fee_id ?? invoice_id,
});

async function askEngine(engine: TaxEngine | undefined, question: TaxDocumentRow): Promise<TaxOutcome<Told>> {
  if (engine === undefined) {
    const fault = { code: 'unauthorized', message: 'the key of the connection is gone' };
    return { kind: 'refused', fault, trace: { httpStatus: null, body: null }, isUnauthorized: true };
  }
  for (let repeats = 0; ; repeats += 1) {
    const outcome = await callFor(engine, question);
    if (!isTooMany(outcome) || repeats >= MOST_REPEATS) return outcome;
    await wait(Math.min(outcome.retryAfterMs ?? 1000 * 2 ** repeats, LONGEST_PAUSE_MS));
  }
}

/** To take back what is filed already, it is negated. */
async function callFor(engine: TaxEngine, question: TaxDocumentRow): Promise<TaxOutcome<Told>> {
  const { kind, document, document_key: id } = question;
  if (kind === 'estimate') return about(document, await engine.estimate(document!, TIMEOUT_MS));
  if (kind === 'void') {
    const outcome = await engine.void(id, TIMEOUT_MS);
    if (outcome.kind !== 'filed') return about(null, outcome);
    const negated = about(null, await engine.negate(id, `${id}:void`, TIMEOUT_MS));
    return negated.kind === 'answered' ? { ...negated, answer: { ...negated.answer, isNegated: true } } : negated;
  }
  const outcome = await engine.record(document!, TIMEOUT_MS);
  if (outcome.kind !== 'filed') return about(document, outcome);
  // What is filed stands as it was sent, in a call whose answer was lost; so the taxes of that are asked for.
  const { sent_document: filed } = question;
  return filed === null ? { ...outcome, kind: 'refused' } : about(filed, await engine.estimate(filed, TIMEOUT_MS));
}

const about = (document: TaxDocument | null, outcome: TaxOutcome<TaxAnswer | null>): TaxOutcome<Told> =>
  outcome.kind === 'answered' ? { ...outcome, answer: { answer: outcome.answer, document } } : outcome;
