import type { Temporal } from 'temporal-polyfill';
import type { Fragment } from '../../../platform/db/connect.ts';
import { isoText } from '../../../platform/db/iso-text.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { InvoiceId } from '../../../platform/ids.ts';
import { digestOfHashes, eventHash } from '../../catalog/usage-shapes/event-digest.ts';
import { eventKey } from '../../usage/usage-counts/rollup-queries.ts';
import type { Watermark } from '../../usage/usage-counts/watermarks.ts';
import {
  type CountedFee,
  eventsFor,
  eventsOfFee,
  eventsOfWindow,
  type WindowPart,
} from '../fee-explanations/counted-events.ts';
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
  { db, organizationId }: Scope,
  invoiceId: InvoiceId,
): Promise<InvoiceInputsRow | undefined> {
  const [row] = await db<InvoiceInputsRow[]>`
    select engine_version, inputs, digest from invoice_inputs
    where organization_id = ${organizationId} and invoice_id = ${invoiceId}`;
  return row;
}

/** The same of the first version: a SHA-256 over all events, which only windows of at most 100 000 got. */
export async function readFirstWatermark(scope: Scope, fee: CountedFee): Promise<Pick<Watermark, 'count' | 'digest'>> {
  const [row] = await scope.db<{ count: number; digest: string }[]>`
    select count(*) as count, encode(sha256(convert_to(coalesce(string_agg(
      event.transaction_id || chr(31) || extract(epoch from event.timestamp) || chr(31)
        || coalesce(event.properties ->> ${fee.inputs.metric?.field_name ?? null}, ''), chr(30)
      order by event.transaction_id collate "C"), ''), 'UTF8')), 'hex') as digest
    from ${eventsOfWindow(scope, fee)}`;
  return row!;
}

/** Digest of the events of a part of a fee's window as they were then: a whole number to be added up. */
export async function digestPart(
  scope: Scope,
  fee: CountedFee,
  part: WindowPart,
): Promise<{ count: number; digest: string }> {
  const { db } = scope;
  const [row] = await db<{ count: number; digest: string }[]>`
    select count(*) as count, (${digestOfHashes(db)})::text as digest
    from (
      select ${eventHash(db, db`${fee.inputs.metric?.field_name ?? null}::text`)} as hash
      from (select * from ${eventsOfWindow(scope, fee, part)}) e
    ) hashed`;
  return row!;
}

/**
 * Where the part of a window ends that begins at `from` and holds `size` events, as ISO text; null: the window holds no
 * more. Events of one instant are never parted.
 */
export async function findPartEnd(
  { db, organizationId }: Scope,
  fee: CountedFee,
  { from, to }: { from: string; to: string },
  size: number,
): Promise<string | null> {
  const { inputs, external_subscription_id } = fee;
  const first = (isLive: Fragment, after: Fragment, most: number) => db`
    (select e.timestamp from ${eventsFor(db, fee)} e
    where e.organization_id = ${organizationId} and e.external_subscription_id = ${external_subscription_id}
      and e.code = ${inputs.metric?.code ?? null} and e.timestamp < ${to} and ${after} and ${isLive}
    order by e.timestamp limit ${most})`;
  // Live events and retracted ones are each in an index of their own.
  const events = (after: Fragment, most: number) => db`
    (${first(db`e.deleted_at is null`, after, most)} union all ${first(db`e.deleted_at is not null`, after, most)}) e`;
  const [row] = await db<{ at: string | null }[]>`
    select ${isoText(db, db`coalesce(nth.timestamp, later.timestamp)`)} as at
    from (
      select max(timestamp) as timestamp from (
        select e.timestamp from ${events(db`e.timestamp >= ${from}::timestamptz`, size + 1)} order by e.timestamp
        offset ${size} limit 1
      ) found
    ) reached
    left join lateral (
      select reached.timestamp where reached.timestamp > ${from}::timestamptz
    ) nth on true
    left join lateral (
      select min(e.timestamp) as timestamp from ${events(db`e.timestamp > ${from}::timestamptz`, 1)}
      where reached.timestamp = ${from}::timestamptz
    ) later on true`;
  return row!.at;
}

export interface RawEvent {
  timestamp: Temporal.Instant;
  text: string | null;
  operation: string | null;
  /** Place in processing order, as a text that sorts. */
  key: string;
}

/** The events behind a fee, or those of a part of its window, in processing order. */
export const listRawEvents = (scope: Scope, fee: CountedFee, part?: WindowPart) => scope.db<RawEvent[]>`
  select event.timestamp, event.properties ->> ${fee.inputs.metric?.field_name ?? null} as text,
    event.properties ->> 'operation_type' as operation, ${eventKey(scope.db, scope.db`event`)} as key
  from ${eventsOfFee(scope, fee, part)}
  order by event.timestamp, event.created_at, event.id`;

/** What arrived in the windows of these fees after they were made; of each window at most `mostAdded` events. */
export async function countSince(
  { db, organizationId }: Scope,
  fees: readonly CountedFee[],
  mostAdded: number | undefined,
): Promise<{ events_added: number; corrections: number }> {
  const windows = fees.map(({ fee_id, inputs: { window, metric }, external_subscription_id, events_watermark }) => ({
    fee_id,
    subscription: external_subscription_id,
    code: metric?.code ?? null,
    from: window.fee.from,
    to: window.fee.to,
    max_id: events_watermark?.max_id ?? null,
  }));
  const [row] = await db<{ events_added: number; corrections: number }[]>`
    select coalesce(sum(added.count), 0)::bigint as events_added,
      coalesce(sum(corrected.count), 0)::bigint as corrections
    from jsonb_to_recordset(${JSON.stringify(windows)}::text::jsonb) as counted (fee_id uuid, subscription text,
      code text, "from" timestamptz, "to" timestamptz, max_id uuid)
    cross join lateral (
      select count(*) as count from (
        select from events e
        where e.organization_id = ${organizationId} and e.external_subscription_id = counted.subscription
          and e.code = counted.code and e.deleted_at is null
          and e.timestamp >= counted."from" and e.timestamp < counted."to"
          and (counted.max_id is null or e.id > counted.max_id)
        limit ${mostAdded ?? null}
      ) event
    ) added
    cross join lateral (
      select count(distinct version.correction_id) as count from event_versions version
      cross join lateral ( -- each by itself, whatever is known of the tables
        select * from events e where e.organization_id = ${organizationId} and e.id = version.event_id offset 0) e
      where version.organization_id = ${organizationId} and version.correction_id > counted.fee_id
        and e.external_subscription_id = counted.subscription and version.code = counted.code
        and version.timestamp >= counted."from" and version.timestamp < counted."to"
    ) corrected`;
  return row!;
}

export const insertVerification = (
  { db, organizationId }: Scope,
  { svc_id, svc_invoice_id, level, status, ...result }: Verification,
  now: Temporal.Instant,
) => db`
  insert into verifications (id, organization_id, invoice_id, level, status, result, created_at)
  values (${svc_id}, ${organizationId}, ${svc_invoice_id}, ${level}, ${status}, ${json(result)}, ${now})`;

export async function findVerification({ db, organizationId }: Scope, id: string): Promise<Verification | undefined> {
  const [row] = await db<
    (Pick<Verification, 'level' | 'status'> & {
      id: string;
      invoice_id: InvoiceId;
      result: Omit<Verification, 'svc_id' | 'svc_invoice_id' | 'level' | 'status'>;
    })[]
  >`
    select id, invoice_id, level, status, result from verifications
    where organization_id = ${organizationId} and id = ${id}`;
  return row && { svc_id: row.id, svc_invoice_id: row.invoice_id, level: row.level, status: row.status, ...row.result };
}

/** Fees of an invoice, and how many events have to be read for them; null if they were too many to be counted. */
export async function sizeOfInvoice(
  { db, organizationId }: Scope,
  invoiceId: InvoiceId,
): Promise<{ fees: number; events: number | null }> {
  const [row] = await db<{ fees: number; events: number | null }[]>`
    select count(*) as fees,
      case when count(*) filter (where inputs.events_watermark -> 'count' = 'null') = 0
        then coalesce(sum((inputs.events_watermark ->> 'count')::bigint), 0)::bigint end as events
    from fees
    left join fee_inputs inputs on inputs.organization_id = fees.organization_id and inputs.fee_id = fees.id
    where fees.organization_id = ${organizationId} and fees.invoice_id = ${invoiceId} and fees.deleted_at is null`;
  return row!;
}

/** What a run verifies. */
interface VerificationRunRow {
  invoice_id: InvoiceId;
  level: VerificationLevel;
}

export async function findVerificationRun(
  { db, organizationId }: Scope,
  id: string,
): Promise<VerificationRunRow | undefined> {
  const [row] = await db<VerificationRunRow[]>`
    select input ->> 'invoice_id' as invoice_id, input ->> 'level' as level from runs
    where organization_id = ${organizationId} and id = ${id} and kind = 'invoice_verification'`;
  return row;
}

/** As findVerificationRun, of one that is not over, locked until the transaction ends. */
export async function lockVerificationRun(
  { db, organizationId }: Scope,
  id: string,
): Promise<VerificationRunRow | undefined> {
  const [row] = await db<VerificationRunRow[]>`
    select input ->> 'invoice_id' as invoice_id, input ->> 'level' as level from runs
    where organization_id = ${organizationId} and id = ${id} and kind = 'invoice_verification' and finished_at is null
    for update`;
  return row;
}

/** Notes how many fees a run is about. */
export const countOnRun = ({ db, organizationId }: Scope, id: string, total: number) => db`
  update runs set total = ${total} where organization_id = ${organizationId} and id = ${id}`;

export const finishRun = ({ db, organizationId }: Scope, id: string, now: Temporal.Instant) => db`
  update runs set status = 'succeeded', done = total, started_at = ${now}, finished_at = ${now}
  where organization_id = ${organizationId} and id = ${id}`;
