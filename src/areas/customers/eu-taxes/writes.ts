import type { Temporal } from 'temporal-polyfill';
import type { GeneratedTax } from '../../../engine/taxes/eu/generated-taxes.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { CustomerId, TaxId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';

/** Creates generated taxes or updates their rates; ids of those whose rate changed. */
export async function saveGeneratedTaxes(
  { db, organizationId }: Scope,
  taxes: readonly GeneratedTax[],
  now: Temporal.Instant,
): Promise<string[]> {
  const rows = taxes.map((tax) => ({ id: newId(), ...tax }));
  const saved = await db<{ id: string; is_changed: boolean }[]>`
    with former as (
      select id, rate from taxes
      where organization_id = ${organizationId} and code = any (${taxes.map(({ code }) => code)})
        and deleted_at is null
    ),
    saved as (
      insert into taxes (id, organization_id, code, name, rate, auto_generated, created_at, updated_at)
      select id, ${organizationId}::uuid, code, name, rate, true, ${now}, ${now}
      from jsonb_to_recordset(${json(rows)}::jsonb) as tax (id uuid, code text, name text, rate numeric)
      on conflict (organization_id, code) where deleted_at is null
      do update set rate = excluded.rate, auto_generated = true, updated_at = excluded.updated_at
      returning id, rate
    )
    select saved.id, former.rate is distinct from saved.rate as is_changed
    from saved join former on former.id = saved.id`;
  return saved.filter(({ is_changed }) => is_changed).map(({ id }) => id);
}

export interface NewCheck {
  customerId: CustomerId;
  number: string;
  taxIds: readonly TaxId[];
}

/**
 * Stores a question to the register that is due at once; an open question about the same number keeps its attempts.
 *
 * @returns id of the check
 */
export async function saveCheck(
  { db, organizationId }: Scope,
  { customerId, number, taxIds }: NewCheck,
  now: Temporal.Instant,
): Promise<string> {
  const [row] = await db<{ id: string }[]>`
    insert into vies_checks as stored (id, organization_id, customer_id, tax_identification_number, status, tax_ids,
      next_attempt_at, created_at, updated_at)
    values (${newId()}, ${organizationId}, ${customerId}, ${number}, 'pending', ${taxIds}::uuid[], ${now},
      ${now}, ${now})
    on conflict (organization_id, customer_id) do update
    set tax_identification_number = excluded.tax_identification_number, status = 'pending', tax_ids = excluded.tax_ids,
      attempts = case when stored.status = 'pending'
          and stored.tax_identification_number = excluded.tax_identification_number then stored.attempts else 0 end,
      last_error = case when stored.status = 'pending' then stored.last_error end,
      next_attempt_at = excluded.next_attempt_at, updated_at = excluded.updated_at
    returning id`;
  return row!.id;
}

/** Whether there was one. */
export async function deleteCheck({ db, organizationId }: Scope, customerId: CustomerId): Promise<boolean> {
  const gone = await db`
    delete from vies_checks where organization_id = ${organizationId} and customer_id = ${customerId} returning id`;
  return gone.length > 0;
}

export const closeCheck = (
  { db, organizationId }: Scope,
  id: string,
  { status, now }: { status: 'valid' | 'invalid'; now: Temporal.Instant },
) => db`
  update vies_checks
  set status = ${status}, attempts = attempts + 1, last_error = null, next_attempt_at = null, updated_at = ${now}
  where organization_id = ${organizationId} and id = ${id}`;

export const postponeCheck = (
  { db, organizationId }: Scope,
  id: string,
  { trouble, now }: { trouble: { error: string; nextAttemptAt: Temporal.Instant }; now: Temporal.Instant },
) => db`
  update vies_checks
  set attempts = attempts + 1, last_error = ${trouble.error}, next_attempt_at = ${trouble.nextAttemptAt},
    updated_at = ${now}
  where organization_id = ${organizationId} and id = ${id}`;
