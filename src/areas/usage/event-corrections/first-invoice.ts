import type { Db, Fragment } from '../../../platform/db/connect.ts';

/**
 * When the usage of the invoice `alias` was counted for the last time, as SQL: when it became final, or began to wait
 * for its taxes; of a regenerated one that of the first invoice in whose place it was made, because its fees are
 * copies.
 *
 * Rules: event-corrections.md#late-events, event-corrections.md#regenerated-invoices.
 */
export const countedAt = (db: Db, alias: string) => {
  const invoice = db(alias);
  return db`
    (case when ${invoice}.voided_invoice_id is null
      then coalesce(${invoice}.usage_counted_at, ${invoice}.finalized_at, ${invoice}.updated_at) else (
      with recursive former as (
        select ${invoice}.organization_id, ${invoice}.voided_invoice_id, null::timestamptz as at
        union all
        select source.organization_id, source.voided_invoice_id, 
          coalesce(source.usage_counted_at, source.finalized_at, source.updated_at)
        from former
        join invoices source on source.organization_id = former.organization_id
          and source.id = former.voided_invoice_id
      )
      select at from former where voided_invoice_id is null) end)`;
};

/** The first of the invoices in whose place the invoice of an id was made, or itself, as SQL. */
export const firstInvoiceOf = (db: Db, invoiceId: Fragment) => db`
  (with recursive former as (
    select own.organization_id, own.id, own.voided_invoice_id from invoices own where own.id = ${invoiceId}
    union all
    select source.organization_id, source.id, source.voided_invoice_id
    from former
    join invoices source on source.organization_id = former.organization_id and source.id = former.voided_invoice_id
  )
  select id from former where voided_invoice_id is null)`;
