import type { Temporal } from 'temporal-polyfill';
import type { Scope } from '../../../platform/db/scope.ts';

/** Lease of a question: a worker that has not answered by then loses it. */
const TAKEN_FOR_SECONDS = 60;

/** Leases a due question; its number, or undefined if it is not due. */
export async function takeCheck(
  { db, organizationId }: Scope,
  id: string,
  now: Temporal.Instant,
): Promise<string | undefined> {
  const [taken] = await db<{ tax_identification_number: string }[]>`
    update vies_checks set next_attempt_at = ${now.add({ seconds: TAKEN_FOR_SECONDS })}
    where organization_id = ${organizationId} and id = ${id} and status = 'pending' and next_attempt_at <= ${now}
    returning tax_identification_number`;
  return taken?.tax_identification_number;
}
