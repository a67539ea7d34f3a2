import { setTimeout as wait } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import type { OrganizationId, TaxDocumentId } from '../../../platform/ids.ts';
import { paced } from '../../../platform/payments/paced-jobs.ts';
import type { Handlers } from '../../../platform/queue/worker.ts';
import type { SystemDeps } from '../../../platform/records/system-transaction.ts';
import { isTooMany, type TaxAnswer, type TaxEngine, type TaxOutcome } from '../../../platform/taxes/port.ts';
import type { JobPayload } from '../../../queues.ts';
import { engineOf, noteCall, taxEngineCalls, timed } from '../../customers/integrations/engine.ts';
import { transact } from '../../payments/provider-network/network.ts';
import { findTaxDocument, leaseQuestion, type TaxDocumentRow } from '../request-taxes/tax-documents.ts';
import { takeAnswer } from './take-answer.ts';

/** Longest wait for one answer. */
const TIMEOUT_MS = 10_000;
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
      async ({ organization_id: organizationId, tax_document_id: id }: JobPayload<'tax.ask'>, calls) => {
        const stored = await findTaxDocument({ db: deps.sql, organizationId }, id);
        if (stored?.status !== 'pending') return;
        await calls.takeTurn(stored.integration_id);
        const question = await leaseQuestion({ db: deps.sql, organizationId }, id, realNow());
        if (!question) return;
        const engine = await engineFor(deps, organizationId, question);
        const asked = await timed(callOf(question), () => askEngine(engine, question));
        await transact(deps, organizationId, async (ctx) => {
          await takeAnswer(ctx, question, asked.outcome);
          await noteCall(ctx, question.integration_id, asked);
        });
      },
    ),
  };
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

async function askEngine(
  engine: TaxEngine | undefined,
  question: TaxDocumentRow,
): Promise<TaxOutcome<TaxAnswer | null>> {
  if (engine === undefined) {
    const fault = { code: 'unauthorized', message: 'the key of the connection is gone' };
    return { kind: 'refused', fault, trace: { httpStatus: null, body: null } };
  }
  for (let repeats = 0; ; repeats += 1) {
    const outcome = await callFor(engine, question);
    if (!isTooMany(outcome) || repeats >= MOST_REPEATS) return outcome;
    await wait(Math.min(outcome.retryAfterMs ?? 1000 * 2 ** repeats, LONGEST_PAUSE_MS));
  }
}

/** What is filed already stands as it was sent, so only its taxes are asked for; to take it back, it is negated. */
async function callFor(engine: TaxEngine, question: TaxDocumentRow): Promise<TaxOutcome<TaxAnswer | null>> {
  const { kind, document, document_key: id } = question;
  if (kind === 'estimate') return engine.estimate(document!, TIMEOUT_MS);
  if (kind === 'void') {
    const outcome = await engine.void(id, TIMEOUT_MS);
    return outcome.kind === 'filed' ? engine.negate(id, `${id}:void`, TIMEOUT_MS) : outcome;
  }
  const outcome = await engine.record(document!, TIMEOUT_MS);
  return outcome.kind === 'filed' ? engine.estimate(document!, TIMEOUT_MS) : outcome;
}
