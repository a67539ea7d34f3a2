import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import type { AddOnRow } from './queries.ts';

export const insertAddOn = (db: Db, organizationId: string, addOn: AddOnRow) => db`
  insert into add_ons (id, organization_id, code, name, invoice_display_name, description, amount_cents,
    amount_currency, created_at, updated_at)
  values (${addOn.id}, ${organizationId}, ${addOn.code}, ${addOn.name}, ${addOn.invoice_display_name},
    ${addOn.description}, ${addOn.amount_cents}, ${addOn.amount_currency}, ${addOn.created_at}, ${addOn.created_at})`;

export const updateAddOnRow = (db: Db, organizationId: string, addOn: AddOnRow, now: Temporal.Instant) => db`
  update add_ons
  set code = ${addOn.code}, name = ${addOn.name}, invoice_display_name = ${addOn.invoice_display_name},
    description = ${addOn.description}, amount_cents = ${addOn.amount_cents},
    amount_currency = ${addOn.amount_currency}, updated_at = ${now}
  where organization_id = ${organizationId} and id = ${addOn.id}`;

/** Deletes an add-on with the fixed charges made from it; their fees stay. Rule: one-off-invoices.md. */
export const deleteAddOnRow = (db: Db, organizationId: string, id: string, now: Temporal.Instant) => db<
  { plan_id: string }[]
>`
  with gone as (
    update add_ons set deleted_at = ${now}, updated_at = ${now}
    where organization_id = ${organizationId} and id = ${id}
  )
  update fixed_charges set deleted_at = ${now}, updated_at = ${now}
  where organization_id = ${organizationId} and add_on_id = ${id} and deleted_at is null
  returning plan_id`;
