import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import type { OrganizationId } from '../../../platform/ids.ts';

/** Questions of organizations that ask the real register, the longest due first. */
export const listDueChecks = (db: Db, now: Temporal.Instant, limit: number) => db<
  { id: string; organization_id: OrganizationId; attempts: number }[]
>`
  select due.id, due.organization_id, due.attempts
  from vies_checks due
  join organizations organization on organization.id = due.organization_id and not organization.sandbox
  where due.status = 'pending' and due.next_attempt_at <= ${now}
  order by due.next_attempt_at, due.id
  limit ${limit}`;
