import { realNow } from '../../../platform/clock/real-clock.ts';
import { type Check, type Finding, MOST_FINDINGS } from './check-of-an-invariant.ts';

/** How long a person has to look at an error at a provider before it is a finding. */
const DRIFT_LATE_AFTER = { hours: 24 } as const;

/** Invariants of what providers hold. Rules: provider-reconciliation.md#drifts, auditor.md. */
export const PROVIDER_CHECKS: readonly Check[] = [
  {
    code: 'A35',
    mustHold: 'nobody leaves an error at a payment provider open for a day',
    resourceType: 'ProviderDrift',
    find: ({ db, organizationId }) => db<Finding[]>`
      select id as resource_id, ours::text as expected, theirs::text as actual,
        jsonb_build_object('kind', kind, 'provider_object_id', provider_object_id, 'payment_id', payment_id) as details
      from provider_drifts
      where organization_id = ${organizationId} and status = 'open' and severity = 'error'
        and first_seen_at < ${realNow().subtract(DRIFT_LATE_AFTER)}
      order by first_seen_at limit ${MOST_FINDINGS}`,
  },
];
