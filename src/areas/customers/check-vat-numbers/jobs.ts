import type { Temporal } from 'temporal-polyfill';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Outgoing } from '../../../platform/http/outgoing.ts';
import type { SweepDeps } from '../../../platform/periodic-job.ts';
import type { Handlers } from '../../../platform/queue/worker.ts';
import type { SystemDeps } from '../../../platform/records/system-transaction.ts';
import { transact } from '../../../platform/records/transact.ts';
import { readVatNumber } from '../../../platform/vat-numbers/read-vat-number.ts';
import { askRegister } from './ask-register.ts';
import { listDueChecks } from './queries.ts';
import { answerCheck } from './take-answer.ts';
import { takeCheck } from './writes.ts';

/** How many questions one sweep enqueues; the rest waits a minute. */
const SWEEP_MOST = 1000;

/**
 * Handler of `vat.check`: asks the register a due question outside of any transaction and stores the answer in one. A
 * question that is not due, or that another worker has taken, is skipped. Rule: eu-taxes.md.
 */
export function vatCheckHandlers(deps: SystemDeps & { outgoing: Outgoing }): Pick<Handlers, 'vat.check'> {
  return {
    async 'vat.check'({ organization_id: organizationId, check_id: checkId }) {
      const number = await takeCheck({ db: deps.sql, organizationId }, checkId, realNow());
      if (number === undefined) return;
      const answer = await askRegister(
        { outgoing: deps.outgoing, url: deps.config.VAT_REGISTER_URL },
        readVatNumber(number),
      );
      await transact(
        deps,
        { id: organizationId, sandbox: false },
        async () => realNow(),
        (ctx) => answerCheck(ctx, { checkId, number }, answer),
      );
    },
  };
}

/** Enqueues due questions: those that are asked again and those whose job was lost. */
export async function sweepVatChecks({ sql, producer }: SweepDeps, now: Temporal.Instant): Promise<void> {
  const due = await listDueChecks(sql, now, SWEEP_MOST);
  await producer.addMany(
    'vat.check',
    due.map(({ id, organization_id, attempts }) => ({
      payload: { organization_id, check_id: id },
      options: { id: `vat-${id}-${attempts}`, forgetFailed: true },
    })),
  );
}
