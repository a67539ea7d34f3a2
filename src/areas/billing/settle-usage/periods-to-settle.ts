import type { Temporal } from 'temporal-polyfill';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { CorrectionId, ExternalSubscriptionId, InvoiceId } from '../../../platform/ids.ts';
import type { ConcernedCharge } from '../../usage/event-corrections/periods.ts';
import type { CorrectionRow } from '../../usage/event-corrections/queries.ts';
import { type PricedItem, pricesOf, type StoredPrices } from './kept-prices.ts';
import type { ChargeToPrice } from './reprice.ts';

/**
 * Stores the charges on issued invoices that a correction has to settle. One that it has still to settle stays, unless
 * a later correction has changed its usage since: then what comes now has a turn of its own.
 *
 * Rule: event-corrections.md#corrections-that-wait.
 */
export async function insertPeriods(
  { db, organizationId }: Scope,
  correctionId: CorrectionId,
  concerned: readonly ConcernedCharge[],
): Promise<void> {
  if (concerned.length === 0) return;
  const rows = concerned.map(
    ({ invoice_id, subscription_id, charge_id, charges_from_datetime, charges_to_datetime }) => ({
      invoice_id,
      subscription_id,
      charge_id,
      charges_from_datetime,
      charges_to_datetime,
    }),
  );
  await db`
    insert into correction_periods (organization_id, correction_id, invoice_id, subscription_id, charge_id,
      charges_from_datetime, charges_to_datetime)
    select ${organizationId}::uuid, ${correctionId}::uuid, invoice_id, subscription_id, charge_id,
      charges_from_datetime,
      charges_to_datetime
    from jsonb_to_recordset(${json(rows)}::jsonb) as period (invoice_id uuid, subscription_id uuid, charge_id uuid,
      charges_from_datetime timestamptz, charges_to_datetime timestamptz)
    on conflict do nothing`;
}

/** A charge on an invoice that a correction has still to settle. */
export interface Unsettled extends ChargeToPrice {
  turn: number;
}

/** What a correction settles next of an invoice, earliest first. */
export interface Turn {
  charges: Unsettled[];
  /** A correction that has changed the usage of the invoice before, and has its turn first. */
  earlierId: CorrectionId | null;
}

type UnsettledRow = Omit<Unsettled, 'prices'> & { prices: StoredPrices | null };

/** Its charges on the earliest invoice that a correction still has to settle; undefined: there is none. */
export async function findNextTurn(
  { db, organizationId }: Scope,
  { id, external_subscription_id }: Pick<CorrectionRow, 'id' | 'external_subscription_id'>,
): Promise<Turn | undefined> {
  const rows = await db<(UnsettledRow & { others_turn: number | null; other_id: CorrectionId | null })[]>`
    with own as materialized (
      select * from correction_periods
      where organization_id = ${organizationId} and correction_id = ${id} and settled_at is null
    )
    select own.invoice_id, false as is_draft, own.subscription_id, own.charge_id, own.charges_from_datetime,
      own.charges_to_datetime, own.turn, own.prices, others.turn as others_turn, others.correction_id as other_id
    from own
    left join lateral (
      select other.turn, other.correction_id
      from correction_periods other
      join event_corrections correction on correction.organization_id = other.organization_id
        and correction.id = other.correction_id and correction.external_subscription_id = ${external_subscription_id}
        and correction.status in ('pending', 'applied')
      where other.organization_id = ${organizationId} and other.invoice_id = own.invoice_id
        and other.settled_at is null and other.correction_id <> ${id}
      order by other.turn
      limit 1
    ) others on true
    where own.invoice_id = (select invoice_id from own order by charges_from_datetime, invoice_id limit 1)
    order by own.turn`;
  if (rows.length === 0) return undefined;
  const { others_turn, other_id } = rows[0]!;
  const charges: Unsettled[] = [];
  for (const { others_turn: _, other_id: __, ...row } of rows) {
    const isAgain = charges.some(
      ({ subscription_id, charge_id }) => subscription_id === row.subscription_id && charge_id === row.charge_id,
    );
    const isAfterOthers = charges.length > 0 && others_turn !== null && row.turn > others_turn;
    if (isAgain || isAfterOthers) break;
    charges.push({ ...row, prices: pricesOf(row.prices) });
  }
  return { charges, earlierId: others_turn !== null && others_turn < charges[0]!.turn ? other_id : null };
}

/** One among those of all corrections. */
export interface Waiting extends Unsettled {
  correction_id: CorrectionId;
}

/**
 * What corrections have still to settle of some metrics of a subscription, in the order of their turns: what has no
 * prices yet, and of a weighted sum also the last prices that were kept of each charge on an invoice, with whose totals
 * later periods go on.
 */
export async function listUnsettledOf(
  { db, organizationId }: Scope,
  externalSubscriptionId: ExternalSubscriptionId,
  codes: readonly string[],
): Promise<Waiting[]> {
  const rows = await db<(UnsettledRow & { correction_id: CorrectionId })[]>`
    select period.correction_id, period.invoice_id, false as is_draft, period.subscription_id, period.charge_id,
      period.charges_from_datetime, period.charges_to_datetime, period.turn, period.prices
    from event_corrections correction
    join correction_periods period on period.organization_id = correction.organization_id
      and period.correction_id = correction.id and period.settled_at is null
    join charges c on c.organization_id = period.organization_id and c.id = period.charge_id
    join billable_metrics m on m.organization_id = c.organization_id and m.id = c.billable_metric_id
      and m.code = any (${codes})
    join invoices i on i.organization_id = period.organization_id and i.id = period.invoice_id
      and i.status not in ('draft', 'generating')
    where correction.organization_id = ${organizationId}
      and correction.external_subscription_id = ${externalSubscriptionId}
      and correction.status in ('pending', 'applied')
      and (period.prices is null or m.recurring and m.aggregation_type = 'weighted_sum_agg' and not exists (
        select from correction_periods later
        join event_corrections of_later on of_later.organization_id = later.organization_id
          and of_later.id = later.correction_id and of_later.status in ('pending', 'applied')
        where later.organization_id = period.organization_id and later.invoice_id = period.invoice_id
          and later.subscription_id = period.subscription_id and later.charge_id = period.charge_id
          and later.turn > period.turn and later.settled_at is null and later.prices is not null))
    order by period.turn`;
  return rows.map((row) => ({ ...row, prices: pricesOf(row.prices) }));
}

/** Keeps what charges cost, by their turns. */
export const keepPrices = (
  { db, organizationId }: Scope,
  kept: readonly (Pick<Unsettled, 'turn' | 'prices'> & { correction_id: CorrectionId })[],
) => db`
  update correction_periods period set prices = kept.prices
  from jsonb_to_recordset(${json(kept)}::jsonb) as kept (correction_id uuid, turn bigint, prices jsonb)
  where period.organization_id = ${organizationId} and period.correction_id = kept.correction_id
    and period.turn = kept.turn and period.settled_at is null`;

/** Metrics from whose totals later periods go on, and which a correction has still to settle. */
export async function listCarriedCodes({ db, organizationId }: Scope, correctionId: CorrectionId): Promise<string[]> {
  const rows = await db<{ code: string }[]>`
    select distinct m.code
    from correction_periods period
    join charges c on c.organization_id = period.organization_id and c.id = period.charge_id
    join billable_metrics m on m.organization_id = c.organization_id and m.id = c.billable_metric_id
      and m.recurring and m.aggregation_type = 'weighted_sum_agg'
    where period.organization_id = ${organizationId} and period.correction_id = ${correctionId}
      and period.settled_at is null
    order by m.code`;
  return rows.map(({ code }) => code);
}

/** Keeps the running totals that periods end with, by their turns. */
export const keepTotals = (
  { db, organizationId }: Scope,
  kept: readonly (Pick<Unsettled, 'turn'> & {
    correction_id: CorrectionId;
    totals: readonly Pick<PricedItem, 'charge_filter_id' | 'grouped_by' | 'total_units'>[];
  })[],
) => db`
  update correction_periods period set totals = kept.totals
  from jsonb_to_recordset(${json(kept)}::jsonb) as kept (correction_id uuid, turn bigint, totals jsonb)
  where period.organization_id = ${organizationId} and period.correction_id = kept.correction_id
    and period.turn = kept.turn and period.settled_at is null`;

export const markSettled = (
  { db, organizationId }: Scope,
  correctionId: CorrectionId,
  { turns, now }: { turns: readonly number[]; now: Temporal.Instant },
) => db`
  update correction_periods set settled_at = ${now}
  where organization_id = ${organizationId} and correction_id = ${correctionId} and turn = any (${turns}::bigint[])
    and settled_at is null`;

/**
 * Lets corrections settle, instead of voided invoices, the one that counts of those that were made in the place of the
 * same first one, in the same turns.
 *
 * @returns whether any had a voided one to settle
 * Rule: event-corrections.md#regenerated-invoices.
 */
export async function movePeriods({ db, organizationId }: Scope, invoiceIds: readonly InvoiceId[]): Promise<boolean> {
  const rows = await db`
    with standing as (
      select id from invoices
      where organization_id = ${organizationId} and id = any (${invoiceIds}::uuid[])
        and status not in ('voided', 'deleted')
      order by id desc limit 1
    ), moved as (
      insert into correction_periods (organization_id, correction_id, invoice_id, subscription_id, charge_id,
        charges_from_datetime, charges_to_datetime, turn, prices, totals)
      select period.organization_id, period.correction_id, standing.id, period.subscription_id, period.charge_id,
        period.charges_from_datetime, period.charges_to_datetime, period.turn, period.prices, period.totals
      from correction_periods period cross join standing
      where period.organization_id = ${organizationId} and period.invoice_id = any (${invoiceIds}::uuid[])
        and period.invoice_id <> standing.id and period.settled_at is null
      on conflict do nothing
    )
    delete from correction_periods period using standing
    where period.organization_id = ${organizationId} and period.invoice_id = any (${invoiceIds}::uuid[])
      and period.invoice_id <> standing.id and period.settled_at is null
    returning 1`;
  return rows.length > 0;
}

/** Whether an invoice has reached an end state; one that is yet to be issued has not. */
export async function readState({ db, organizationId }: Scope, invoiceId: InvoiceId): Promise<{ is_issued: boolean }> {
  const [row] = await db<{ is_issued: boolean }[]>`
    select status not in ('draft', 'generating', 'open', 'pending', 'failed') as is_issued
    from invoices where organization_id = ${organizationId} and id = ${invoiceId}`;
  return row ?? { is_issued: true };
}

export const lockInvoice = ({ db, organizationId }: Scope, id: InvoiceId) => db`
  select from invoices where organization_id = ${organizationId} and id = ${id} for update`;
