import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../platform/db/connect.ts';
import { type CountedFee, eventsOfFee, eventsOfWindow } from '../fee-explanations/counted-events.ts';
import type { Watermark } from '../fee-explanations/queries.ts';
import type { Verification, VerificationLevel } from './schema.ts';

/** What the totals of an invoice were computed from. */
export interface InvoiceInputs {
  progressive_billing_credit_amount_cents: number;
  coupons: readonly { amount_cents: number }[];
  credit_notes_amount_cents: number;
  prepaid_credit_amount_cents: number;
}

export interface InvoiceInputsRow {
  engine_version: number;
  inputs: InvoiceInputs;
  digest: Buffer;
}

export async function findInvoiceInputs(
  db: Db,
  organizationId: string,
  invoiceId: string,
): Promise<InvoiceInputsRow | undefined> {
  const [row] = await db<InvoiceInputsRow[]>`
    select engine_version, inputs, digest from invoice_inputs
    where organization_id = ${organizationId} and invoice_id = ${invoiceId}`;
  return row;
}

/** The events of a fee's charge and window as they were then, as a watermark. */
export async function readWatermark(
  db: Db,
  organizationId: string,
  fee: CountedFee,
): Promise<Pick<Watermark, 'count' | 'digest'>> {
  const [row] = await db<{ count: number; digest: string }[]>`
    select count(*) as count, encode(sha256(convert_to(coalesce(string_agg(
      event.transaction_id || chr(31) || extract(epoch from event.timestamp) || chr(31)
        || coalesce(event.properties ->> ${fee.inputs.metric?.field_name ?? null}, ''), chr(30)
      order by event.transaction_id collate "C"), ''), 'UTF8')), 'hex') as digest
    from ${eventsOfWindow(db, organizationId, fee)}`;
  return row!;
}

export interface RawEvent {
  timestamp: Temporal.Instant;
  text: string | null;
  operation: string | null;
}

/** The events behind a fee in processing order. */
export const listRawEvents = (db: Db, organizationId: string, fee: CountedFee) => db<RawEvent[]>`
  select event.timestamp, event.properties ->> ${fee.inputs.metric?.field_name ?? null} as text,
    event.properties ->> 'operation_type' as operation
  from ${eventsOfFee(db, organizationId, fee)}
  order by event.timestamp, event.created_at, event.id`;

/** What arrived in the window of a fee after it was made. */
export async function countSince(
  db: Db,
  organizationId: string,
  { fee_id, inputs, external_subscription_id, events_watermark }: CountedFee,
): Promise<{ events_added: number; corrections: number }> {
  const { window, metric } = inputs;
  const [row] = await db<{ events_added: number; corrections: number }[]>`
    select
      (select count(*) from events e
       where e.organization_id = ${organizationId} and e.external_subscription_id = ${external_subscription_id}
         and e.code = ${metric?.code ?? null} and e.deleted_at is null
         and e.timestamp >= ${window.fee.from}::timestamptz and e.timestamp < ${window.fee.to}::timestamptz
         and (${events_watermark?.max_id ?? null}::uuid is null or e.id > ${events_watermark?.max_id ?? null}::uuid)
      ) as events_added,
      (select count(distinct version.correction_id) from event_versions version
       join events e on e.organization_id = version.organization_id and e.id = version.event_id
       where version.organization_id = ${organizationId} and version.correction_id > ${fee_id}
         and e.external_subscription_id = ${external_subscription_id} and version.code = ${metric?.code ?? null}
         and version.timestamp >= ${window.fee.from}::timestamptz and version.timestamp < ${window.fee.to}::timestamptz
      ) as corrections`;
  return row!;
}

export const insertVerification = (
  db: Db,
  organizationId: string,
  { svc_id, svc_invoice_id, level, status, ...result }: Verification,
  now: Temporal.Instant,
) => db`
  insert into verifications (id, organization_id, invoice_id, level, status, result, created_at)
  values (${svc_id}, ${organizationId}, ${svc_invoice_id}, ${level}, ${status}, ${result as never}, ${now})`;

export async function findVerification(db: Db, organizationId: string, id: string): Promise<Verification | undefined> {
  const [row] = await db<
    (Pick<Verification, 'level' | 'status'> & {
      id: string;
      invoice_id: string;
      result: Omit<Verification, 'svc_id' | 'svc_invoice_id' | 'level' | 'status'>;
    })[]
  >`
    select id, invoice_id, level, status, result from verifications
    where organization_id = ${organizationId} and id = ${id}`;
  return row && { svc_id: row.id, svc_invoice_id: row.invoice_id, level: row.level, status: row.status, ...row.result };
}

/** Fees of an invoice. */
export async function countFees(db: Db, organizationId: string, invoiceId: string): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*) from fees
    where organization_id = ${organizationId} and invoice_id = ${invoiceId} and deleted_at is null`;
  return row!.count;
}

/** What a run verifies. */
interface VerificationRunRow {
  invoice_id: string;
  level: VerificationLevel;
}

export async function findVerificationRun(
  db: Db,
  organizationId: string,
  id: string,
): Promise<VerificationRunRow | undefined> {
  const [row] = await db<VerificationRunRow[]>`
    select input ->> 'invoice_id' as invoice_id, input ->> 'level' as level from runs
    where organization_id = ${organizationId} and id = ${id} and kind = 'invoice_verification'`;
  return row;
}

/** As findVerificationRun, of one that is not over; nobody else works on it until the transaction ends. */
export async function lockVerificationRun(
  db: Db,
  organizationId: string,
  id: string,
): Promise<VerificationRunRow | undefined> {
  const [row] = await db<VerificationRunRow[]>`
    select input ->> 'invoice_id' as invoice_id, input ->> 'level' as level from runs
    where organization_id = ${organizationId} and id = ${id} and kind = 'invoice_verification' and finished_at is null
    for update`;
  return row;
}

/** Notes how many fees a run is about. */
export const countOnRun = (db: Db, organizationId: string, id: string, total: number) => db`
  update runs set total = ${total} where organization_id = ${organizationId} and id = ${id}`;

export const finishRun = (db: Db, organizationId: string, id: string, now: Temporal.Instant) => db`
  update runs set status = 'succeeded', done = total, started_at = ${now}, finished_at = ${now}
  where organization_id = ${organizationId} and id = ${id}`;
