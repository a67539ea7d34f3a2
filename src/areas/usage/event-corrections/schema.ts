import { z } from 'zod';
import { listFilter, textFilter } from '../../../platform/lists/filters.ts';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { fromFilter, untilFilter } from '../../../platform/lists/time-filters.ts';
import { anyValue, named } from '../../../platform/schema/bounded.ts';
import { boolean, integer, MANDATORY, oneOf, oneOfOffered, text } from '../../../platform/schema/fields.ts';
import { instantField } from '../../../platform/schema/instant-field.ts';
import { LINE_MAX, SCALAR_MAX } from '../../../platform/schema/sizes.ts';
import { POLICIES } from '../../catalog/usage-policies/schema.ts';
import { parseEvent } from '../events/parse-event.ts';

export const KINDS = ['amend', 'retract', 'retract_range', 'late_events', 'price_healing', 'price_rerating'] as const;
export const STATUSES = ['pending', 'applied', 'settled', 'failed', 'previewed'] as const;
export const PARTS = ['credit', 'refund', 'offset'] as const;
export type Kind = (typeof KINDS)[number];
export type Status = (typeof STATUSES)[number];
export type Part = (typeof PARTS)[number];

/** How many characters a reason may have. */
const REASON_MAX = 255;
const PROPERTIES = { max: 1000, textMax: 1024 * 1024 };
const UNSUPPORTED = 'unsupported_value';
const MUST_BE_BLANK = 'value_must_be_blank';

/** Fields that only some kinds accept; for other kinds they are refused by name. */
const FIELDS_OF: Readonly<Record<string, readonly string[]>> = {
  amend: ['transaction_id', 'timestamp', 'properties', 'precise_total_amount_cents'],
  retract: ['transaction_id'],
  retract_range: ['timestamp_from', 'timestamp_to', 'properties', 'expected_count'],
};
const OWN_FIELDS = [...new Set(Object.values(FIELDS_OF).flat())];

const word = anyValue({ max: SCALAR_MAX, textMax: LINE_MAX });
/** The same limit as for an event. */
const properties = named(anyValue(PROPERTIES), PROPERTIES);

const Sent = z.object({
  kind: oneOfOffered(['amend', 'retract', 'retract_range', 'replace_range'], ['replace_range']).refine(
    (kind) => kind !== 'replace_range',
    UNSUPPORTED,
  ),
  reason: text({ max: REASON_MAX }),
  policy: oneOf(POLICIES).nullish(),
  credit_note_part: oneOf(PARTS).nullish(),
  dry_run: boolean().nullish(),
  external_subscription_id: text(),
  transaction_id: text().nullish(),
  code: text().nullish(),
  timestamp: word.optional(),
  properties: properties.nullish(),
  precise_total_amount_cents: word.optional(),
  timestamp_from: instantField().nullish(),
  timestamp_to: instantField().nullish(),
  expected_count: integer({ min: 0 }).nullish(),
});

/** The changes of an amendment; absent keys stay unchanged. Texts are in stored form. */
export interface Amendment {
  /** ISO text with microseconds. */
  timestamp?: string;
  /** Canonical JSON text. */
  properties?: string;
  precise_total_amount_cents?: string | null;
}

/**
 * Input of `POST /events/corrections`. Values of events are read as at ingestion, and come out as the texts that are
 * stored. Rule: event-corrections.md#routes.
 */
export const CorrectionCreate = Sent.superRefine((sent, context) => {
  const refuse = (field: string, message: string) => context.addIssue({ code: 'custom', path: [field], message });
  const own = FIELDS_OF[sent.kind];
  if (!own) return;
  for (const field of OWN_FIELDS) {
    const value = sent[field as keyof typeof sent];
    if (value !== undefined && value !== null && !own.includes(field)) refuse(field, MUST_BE_BLANK);
  }
  const mandatory = sent.kind === 'retract_range' ? ['timestamp_from', 'timestamp_to'] : ['transaction_id'];
  for (const field of mandatory) if (!sent[field as keyof typeof sent]) refuse(field, MANDATORY);
}).transform((sent, context) => {
  const { timestamp, properties, precise_total_amount_cents, ...rest } = sent;
  const parsed = parseEvent({ transaction_id: 'x', code: 'x', timestamp, properties, precise_total_amount_cents });
  if (!parsed.ok) {
    for (const [field, messages] of Object.entries(parsed.errors))
      context.addIssue({ code: 'custom', path: [field], message: (messages as string[])[0]! });
    return z.NEVER;
  }
  const amendment: Amendment = {
    ...(parsed.event.timestamp === null ? {} : { timestamp: parsed.event.timestamp }),
    ...(properties ? { properties: parsed.event.properties } : {}),
    ...(precise_total_amount_cents === undefined
      ? {}
      : { precise_total_amount_cents: parsed.event.precise_total_amount_cents }),
  };
  return { ...rest, ...amendment };
});
export type CorrectionCreate = z.output<typeof CorrectionCreate>;

export const CorrectionListQuery = z.object({
  ...pageQuery,
  kinds: listFilter,
  statuses: listFilter,
  external_subscription_id: textFilter,
  transaction_id: textFilter,
  from: fromFilter,
  to: untilFilter,
});
export type CorrectionListQuery = z.output<typeof CorrectionListQuery>;
export const AdjustmentListQuery = z.object(pageQuery);
export const VersionsQuery = z.object({ external_subscription_id: textFilter });
export type VersionsQuery = z.output<typeof VersionsQuery>;

const AdjustmentView = z.object({
  svc_id: z.uuid(),
  svc_invoice_id: z.uuid().nullable(),
  svc_fee_id: z.uuid().nullable(),
  svc_charge_id: z.uuid().nullable(),
  svc_charge_filter_id: z.uuid().nullable(),
  grouped_by: z.record(z.string(), z.any()),
  from_datetime: z.iso.datetime().nullable(),
  to_datetime: z.iso.datetime().nullable(),
  old_amount_cents: z.int().nullable(),
  new_amount_cents: z.int().nullable(),
  delta_amount_cents: z.int().nullable(),
  left_amount_cents: z.int(),
  booked_as: z.string().nullable(),
  svc_new_fee_id: z.uuid().nullable(),
  svc_credit_note_id: z.uuid().nullable(),
  uncreditable_amount_cents: z.int(),
  late_events_left_out: z.int(),
  warning: z.string().nullable(),
  created_at: z.iso.datetime(),
});
export type AdjustmentView = z.infer<typeof AdjustmentView>;

const CorrectionView = z.object({
  svc_id: z.uuid(),
  kind: z.enum(KINDS),
  status: z.enum(STATUSES),
  policy: z.enum(POLICIES),
  credit_note_part: z.enum(PARTS),
  reason: z.string(),
  dry_run: z.boolean(),
  external_subscription_id: z.string(),
  transaction_id: z.string().nullable(),
  input: z.record(z.string(), z.any()),
  svc_api_key_id: z.uuid().nullable(),
  events_count: z.int(),
  draft_invoices_count: z.int(),
  invoices_count: z.int(),
  progress: z.object({ done: z.int(), total: z.int(), percent: z.int() }),
  error: z.object({ code: z.string(), message: z.string(), svc_resource_id: z.uuid().nullable() }).nullable(),
  created_at: z.iso.datetime(),
  started_at: z.iso.datetime().nullable(),
  finished_at: z.iso.datetime().nullable(),
  adjustments: z.array(AdjustmentView).optional(),
});
export type CorrectionView = z.infer<typeof CorrectionView>;
export const CorrectionEnvelope = z.object({ correction: CorrectionView });
export const CorrectionList = z.object({ corrections: z.array(CorrectionView), meta: PageMeta });
export const AdjustmentList = z.object({ adjustments: z.array(AdjustmentView), meta: PageMeta });

const VersionView = z.object({
  version: z.int(),
  code: z.string(),
  timestamp: z.iso.datetime(),
  properties: z.record(z.string(), z.any()),
  precise_total_amount_cents: z.string().nullable(),
  valid_from: z.iso.datetime(),
  valid_to: z.iso.datetime().nullable(),
  svc_correction_id: z.uuid().nullable(),
  retracted: z.boolean(),
});
export const VersionList = z.object({ event_versions: z.array(VersionView) });
