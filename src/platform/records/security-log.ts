import type { SecurityEvent } from '../context.ts';
import type { Db } from '../db/connect.ts';
import { json } from '../db/values.ts';
import { newId } from '../ids.ts';
import type { RecordsMeta } from './write-records.ts';

/**
 * Writes lines of the security log in the caller's transaction, in real time, because keys and endpoints have no test
 * clock. Rule: logs.md#security-logs.
 */
export async function writeSecurityLogs(
  db: Db,
  { organizationId, actor, realNow }: Pick<RecordsMeta, 'organizationId' | 'actor' | 'realNow'>,
  events: readonly SecurityEvent[],
): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map(({ event, resources }) => ({
    id: newId(),
    log_type: event.slice(0, event.indexOf('.')),
    log_event: event,
    resources,
    device_info: actor.client ? { user_agent: actor.client } : {},
  }));
  await db`
    insert into security_logs (id, organization_id, log_type, log_event, api_key_id, resources, device_info, logged_at,
      created_at)
    select id, ${organizationId}::uuid, log_type, log_event, ${actor.apiKeyId}::uuid, resources, device_info,
      ${realNow}, ${realNow}
    from jsonb_to_recordset(${json(rows)}::jsonb) as row (id uuid, log_type text, log_event text, resources jsonb,
      device_info jsonb)`;
}

/** Fields that differ, as the security log shows them: `{field: {deleted: before, added: after}}`. */
export function securityDiff<Fields extends object>(before: Fields, after: Fields): Record<string, object> {
  const names = Object.keys(after) as (keyof Fields & string)[];
  return Object.fromEntries(
    names
      .filter((name) => JSON.stringify(before[name] ?? null) !== JSON.stringify(after[name] ?? null))
      .map((name) => [name, { deleted: before[name] ?? null, added: after[name] ?? null }]),
  );
}
