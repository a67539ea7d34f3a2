import type { Environment } from '../harness/environment.ts';
import { CODES } from './burst.ts';
import { withoutIndexes } from './preload.ts';

const SECONDS_OF_MONTH = 29 * 24 * 3600;
/** Prime to the seconds of the month, so that the events of every code spread over all of it. */
const STEP = 1_000_003;

/**
 * Events of subscriptions in February 2024, over all hours and the codes of the burst's metrics; one insertion each.
 */
export async function fillWindow(
  environment: Environment,
  organizationId: string,
  sets: readonly { subscription: string; rows: number }[],
): Promise<void> {
  const codes = `array['${CODES.join("','")}']`;
  await withoutIndexes(
    environment,
    sets.map(
      ({ subscription, rows }, set) => `
        insert into events (id, organization_id, external_subscription_id, transaction_id, code, timestamp, properties,
          digest, created_at)
        select ('018d6a0${set}-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, '${organizationId}', '${subscription}',
          md5(n::text) || '-${set}', (${codes})[1 + n % ${CODES.length}],
          timestamptz '2024-02-01T00:00:00Z' + (n::bigint * ${STEP} % ${SECONDS_OF_MONTH}) * interval '1 second',
          jsonb_build_object('n', n % 977), decode(lpad(to_hex(n), 32, '0'), 'hex'), '2024-02-01T00:00:00Z'
        from generate_series(1, ${rows}) n`,
    ),
  );
}
