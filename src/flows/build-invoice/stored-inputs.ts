import type { Temporal } from 'temporal-polyfill';
import type { Period } from '../../engine/calendar/period.ts';
import { ENGINE_VERSION } from '../../engine/version.ts';
import type { Db } from '../../platform/db/connect.ts';
import { digestOf } from './inputs.ts';
import type { FeeOwner, InvoiceOwner } from './writes.ts';

export interface StoredInputs {
  feeId: string;
  inputs: object;
  watermark: object | null;
}

/** What the totals of an invoice were computed from. Rule: beyond 6.1 "invoice level". */
export const insertInvoiceInputs = (
  db: Db,
  owner: Pick<InvoiceOwner, 'organizationId' | 'invoiceId'>,
  invoice: object,
  now: Temporal.Instant,
) => db`
  insert into invoice_inputs (invoice_id, organization_id, engine_version, inputs, digest, created_at)
  values (${owner.invoiceId}, ${owner.organizationId}, ${ENGINE_VERSION}, ${invoice as never}, ${digestOf(invoice)}, ${now})`;

/** What every amount of a fee was computed from. Rule: beyond 6.1. */
export async function insertFeeInputs(
  db: Db,
  owner: FeeOwner,
  fees: readonly StoredInputs[],
  now: Temporal.Instant,
): Promise<void> {
  const rows = fees.map(({ feeId, inputs, watermark }) => ({
    fee_id: feeId,
    inputs,
    digest: digestOf(inputs).toString('hex'),
    events_watermark: watermark,
  }));
  await db`
    insert into fee_inputs (fee_id, organization_id, engine_version, inputs, digest, events_watermark, created_at)
    select fee_id, ${owner.organizationId}::uuid, ${ENGINE_VERSION}::integer, inputs, decode(digest, 'hex'),
      events_watermark, ${now}
    from jsonb_to_recordset(${rows as never}::jsonb) as input (fee_id uuid, inputs jsonb, digest text,
      events_watermark jsonb)`;
}

export interface CountedWindow {
  externalSubscriptionId: string;
  code: string;
  fieldName: string | null;
  window: Pick<Period, 'to'> & { from: Temporal.Instant | null };
}

/** Events above this count carry no digest. Rule: beyond 6.1. */
const MOST_DIGESTED_EVENTS = 100_000;

/**
 * Up to which event each window was counted: greatest id, number, and a digest over transaction id, instant and property
 * text. In the order asked. Rule: beyond 6.1 `events_watermark`.
 */
export async function readWatermarks(
  db: Db,
  organizationId: string,
  windows: readonly CountedWindow[],
): Promise<object[]> {
  if (windows.length === 0) return [];
  const rows = windows.map(({ externalSubscriptionId, code, fieldName, window }, position) => ({
    position,
    external_subscription_id: externalSubscriptionId,
    code,
    field_name: fieldName,
    from_at: window.from?.round({ smallestUnit: 'millisecond', roundingMode: 'trunc' }) ?? '-infinity',
    to_at: window.to,
  }));
  const marks = await db<{ mark: object }[]>`
    select jsonb_build_object('max_id', counted.max_id, 'count', counted.count, 'digest', counted.digest) as mark
    from jsonb_to_recordset(${rows as never}::jsonb) as asked (position integer, external_subscription_id text,
      code text, field_name text, from_at timestamptz, to_at timestamptz)
    cross join lateral (
      select max(event.id::text) as max_id, count(*) as count,
        case when count(*) <= ${MOST_DIGESTED_EVENTS} then encode(sha256(convert_to(coalesce(string_agg(
          event.transaction_id || chr(31) || extract(epoch from event.timestamp) || chr(31)
            || coalesce(event.properties ->> asked.field_name, ''), chr(30)
          order by event.transaction_id collate "C"), ''), 'UTF8')), 'hex') end as digest
      from events event
      where event.organization_id = ${organizationId}
        and event.external_subscription_id = asked.external_subscription_id and event.code = asked.code
        and event.timestamp >= asked.from_at and event.timestamp < asked.to_at and event.deleted_at is null
    ) counted
    order by asked.position`;
  return marks.map((row) => row.mark);
}
