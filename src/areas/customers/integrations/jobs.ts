import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Handlers } from '../../../platform/queue/worker.ts';
import { nudge } from '../../../platform/records/nudge.ts';
import { type SystemDeps, systemTransaction } from '../../../platform/records/system-transaction.ts';
import { engineOf, noteCall, timed } from './engine.ts';

/** Longest wait for the answer to a check. */
const TIMEOUT_MS = 5000;

/**
 * Handler of `integration.check`: asks the other system outside of any transaction whether the credentials of a
 * connection work, and keeps the answer in one. Rule: integrations.md#status.
 */
export const integrationHandlers = (deps: SystemDeps): Pick<Handlers, 'integration.check'> => ({
  async 'integration.check'({ organization_id: organizationId, integration_id: id }) {
    const engine = await engineOf({ db: deps.sql, config: deps.config }, { id: organizationId, sandbox: false }, id);
    if (!engine) return;
    const asked = await timed({ operation: 'check', resourceId: null }, () => engine.check(TIMEOUT_MS));
    const nudges = await systemTransaction(
      deps,
      { id: organizationId, sandbox: false },
      async () => realNow(),
      (ctx) => noteCall(ctx, id, asked),
    );
    if (nudges) await nudge(deps.producer, organizationId, nudges);
  },
});
