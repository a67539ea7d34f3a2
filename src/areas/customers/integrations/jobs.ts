import type { Redis } from 'ioredis';
import { realNow } from '../../../platform/clock/real-clock.ts';
import { paced } from '../../../platform/payments/paced-jobs.ts';
import type { Handlers } from '../../../platform/queue/worker.ts';
import type { SystemDeps } from '../../../platform/records/system-transaction.ts';
import { transact } from '../../../platform/records/transact.ts';
import { isTooMany } from '../../../platform/taxes/port.ts';
import type { JobPayload } from '../../../queues.ts';
import { senderOf } from './access-points.ts';
import { engineOf, noteCall, taxEngineCalls, timed } from './engine.ts';

/** Longest wait for the answer to a check. */
const TIMEOUT_MS = 5000;

/**
 * Handler of `integration.check`: asks the other system outside of any transaction whether the credentials of a
 * connection work, and keeps the answer in one. Rule: integrations.md#status.
 */
export function integrationHandlers(deps: SystemDeps & { redis: Redis }): Pick<Handlers, 'integration.check'> {
  const callsOf = taxEngineCalls(deps);
  return {
    'integration.check': paced(
      callsOf,
      async ({ organization_id: organizationId, integration_id: id }: JobPayload<'integration.check'>, calls, info) => {
        await calls.takeTurn(id);
        const connection = { db: deps.sql, config: deps.config };
        const organization = { id: organizationId, sandbox: false };
        const engine = (await senderOf(connection, organization, id)) ?? (await engineOf(connection, organization, id));
        if (!engine) return;
        const asked = await timed({ operation: 'check', resourceId: null }, () => engine.check(TIMEOUT_MS));
        if (isTooMany(asked.outcome)) {
          const pauseMs = await calls.pauseAfterRefusal(asked.outcome.retryAfterMs);
          if (pauseMs !== undefined) return info.comeBack(pauseMs);
        }
        await transact(
          deps,
          { id: organizationId, sandbox: false },
          async () => realNow(),
          (ctx) => noteCall(ctx, id, asked),
        );
      },
    ),
  };
}
