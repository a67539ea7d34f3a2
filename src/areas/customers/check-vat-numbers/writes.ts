import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';

/** A worker that took a question and did not come back has lost it after this. */
const TAKEN_FOR_SECONDS = 60;

/** Takes a due question for a while; the number that it is about, or undefined when it is not due. */
export async function takeCheck(
  db: Db,
  organizationId: string,
  id: string,
  now: Temporal.Instant,
): Promise<string | undefined> {
  const [taken] = await db<{ tax_identification_number: string }[]>`
    update vies_checks set next_attempt_at = ${now.add({ seconds: TAKEN_FOR_SECONDS })}
    where organization_id = ${organizationId} and id = ${id} and status = 'pending' and next_attempt_at <= ${now}
    returning tax_identification_number`;
  return taken?.tax_identification_number;
}
