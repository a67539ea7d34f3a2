import { randomUUID } from 'node:crypto';
import type { Temporal } from 'temporal-polyfill';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Sql } from '../../../platform/db/connect.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { writeSecurityLogs } from '../../../platform/records/security-log.ts';
import { refuse } from '../../../platform/refusal.ts';
import { seconds } from '../../../platform/schema/view.ts';
import type { SecretSettings } from '../../../platform/secrets/secrets.ts';
import { replaceHmacKey } from '../../messaging/webhooks/writes.ts';
import { OPERATOR } from './operator-actor.ts';

const OVERLAP_HOURS_MAX = 168;

/**
 * Gives an organization a new secret of the `hmac` signature of webhooks; the former one goes on signing for so many
 * hours. An operator's command. Rules: webhooks.md#delivery, logs.md#security-logs.
 *
 * @throws Refusal 404 organization; 422 expires_in_hours value_is_out_of_range, other-routes.md#common-ground to 168
 */
export async function rotateHmacKey(
  sql: Sql,
  { organizationId, hours }: { organizationId: OrganizationId; hours: number },
  config: SecretSettings = {},
): Promise<{ organization_id: OrganizationId; hmac_key: string; former_expires_at: string }> {
  if (!Number.isSafeInteger(hours) || hours < 0 || hours > OVERLAP_HOURS_MAX)
    throw refuse.invalid({ expires_in_hours: ['value_is_out_of_range'] });
  const hmacKey = randomUUID();
  const now = realNow();
  const formerUntil: Temporal.Instant = now.add({ hours });
  const resources = { rotated: 'hmac_key', former_expires_at: seconds(formerUntil) };
  return sql.begin(async (tx) => {
    const { count } = isUuid(organizationId)
      ? await replaceHmacKey({ db: tx, config }, organizationId, hmacKey, formerUntil)
      : { count: 0 };
    if (count === 0) throw refuse.notFound('organization');
    await writeSecurityLogs(tx, { organizationId, actor: OPERATOR, realNow: now }, [
      { event: 'webhook_endpoint.updated', resources },
    ]);
    return { organization_id: organizationId, hmac_key: hmacKey, former_expires_at: seconds(formerUntil) };
  });
}
