import type { Temporal } from 'temporal-polyfill';
import type { Db, Fragment, Sql } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';

/**
 * Adds transactions that wait in the tail to the sums of their days, oldest first; any number of processes may do it
 * side by side. A transaction leaves the tail and joins the sums at one instant.
 *
 * @returns how many were added, at most `limit`
 * Rule: ledger.md#storage `ledger_daily`.
 */
export async function rollUpTail(db: Sql | Db, limit: number): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    with taken as (
      delete from ledger_tail
      where (organization_id, transaction_id) in (
        select organization_id, transaction_id from ledger_tail
        order by organization_id, transaction_id limit ${limit} for update skip locked)
      returning organization_id, transaction_id
    ), rolled as (
      insert into ledger_daily (organization_id, booked_on, document_date, billing_entity_id, account_code, currency,
        debit_cents, credit_cents, through_position)
      select entry.organization_id, entry.booked_on, booked.document_date, entry.billing_entity_id, entry.account_code,
        entry.currency, ${debit(db)}, ${credit(db)}, max(entry.position)
      from taken
      join ledger_transactions booked on booked.id = taken.transaction_id
      join ledger_entries entry on entry.transaction_id = booked.id
      group by 1, 2, 3, 4, 5, 6
      order by 1, 2, 3, 4, 5, 6
      on conflict (organization_id, booked_on, document_date, billing_entity_id, account_code, currency) do update set
        debit_cents = ledger_daily.debit_cents + excluded.debit_cents,
        credit_cents = ledger_daily.credit_cents + excluded.credit_cents,
        through_position = greatest(ledger_daily.through_position, excluded.through_position)
    )
    select count(*) from taken`;
  return row!.count;
}

const debit = (db: Db): Fragment =>
  db`coalesce(sum(entry.amount_cents) filter (where entry.side = 'debit'), 0)::bigint`;
const credit = (db: Db): Fragment =>
  db`coalesce(sum(entry.amount_cents) filter (where entry.side = 'credit'), 0)::bigint`;

/** Where the time of a balance ends: before an instant, or with a day, booked or of the document. */
export type BalancesAt = { before: Temporal.Instant } | { day: Temporal.PlainDate; basis: 'booked' | 'document' };

/**
 * Sums of an organization's entries up to a moment by `billing_entity_id, account_code, currency`, in parts that the
 * reader adds up: whole days from the sums, what waits in the tail, and for an instant the entries of the days around
 * it. A day of a billing entity anywhere on earth is over 36 hours after its date began in UTC, and begins 14 hours
 * before.
 */
export function sumsUntil(scope: Scope, at: BalancesAt): Fragment {
  const { db, organizationId } = scope;
  if ('day' in at) return wholeDays(scope, at.basis, at.day);
  const day = at.before.toZonedDateTimeISO('UTC').toPlainDate();
  const over = day.subtract({ days: 2 });
  return db`${wholeDays(scope, 'booked', over)}
    union all
    select entry.billing_entity_id, entry.account_code, entry.currency, ${debit(db)}, ${credit(db)}, max(entry.position)
    from ledger_entries entry
    join ledger_transactions booked
      on booked.organization_id = entry.organization_id and booked.id = entry.transaction_id
    where entry.organization_id = ${organizationId} and entry.booked_on > ${over}
      and entry.booked_on <= ${day}::date + 1 and booked.booked_at < ${at.before}
    group by 1, 2, 3`;
}

const wholeDays = (
  { db, organizationId }: Scope,
  basis: 'booked' | 'document',
  last: Temporal.PlainDate,
): Fragment => db`
  select billing_entity_id, account_code, currency, sum(debit_cents)::bigint as debit_cents,
    sum(credit_cents)::bigint as credit_cents, max(through_position) as last_position
  from ledger_daily
  where organization_id = ${organizationId} and ${basis === 'booked' ? db`booked_on` : db`document_date`} <= ${last}
  group by 1, 2, 3
  union all
  select entry.billing_entity_id, entry.account_code, entry.currency, ${debit(db)}, ${credit(db)}, max(entry.position)
  from ledger_tail tail
  join ledger_transactions booked on booked.id = tail.transaction_id
  join ledger_entries entry on entry.transaction_id = tail.transaction_id
  where tail.organization_id = ${organizationId}
    and ${basis === 'booked' ? db`entry.booked_on` : db`booked.document_date`} <= ${last}
  group by 1, 2, 3`;
