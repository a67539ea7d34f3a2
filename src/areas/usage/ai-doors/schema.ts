import { z } from 'zod';
import { KINDS } from '../../../engine/ai/kinds.ts';
import { textFilter } from '../../../platform/lists/filters.ts';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { anyValue, list, named } from '../../../platform/schema/bounded.ts';
import { ErrorPlaces } from '../../../platform/schema/error-places.ts';
import { boolean, INVALID, MANDATORY, oneOf, text } from '../../../platform/schema/fields.ts';
import { KEY_MAX_BYTES } from '../../../platform/schema/sizes.ts';
import { EventView, ExplanationView } from '../events/schema.ts';
import { EMITS } from './door-settings.ts';
import { SUBJECT_KINDS } from './subjects.ts';

const key = z.string().max(KEY_MAX_BYTES);
/** Values of a body or of its list of events; the door counts its bytes too. */
const BODY_VALUES_MAX = 10_000;
/** Largest body of a provider within a request. Rule: ai-usage.md#input. */
export const BODY_MAX_BYTES = 256 * 1024;
const PROPERTIES_MAX = 30;
const USAGES_MAX = 1000;

const AiUsageInput = z.object({
  format: z.string().max(32).nullish(),
  body: anyValue({ max: BODY_VALUES_MAX }).optional(),
  parts: named(z.number(), { max: KINDS.length }).nullish(),
  provider: z.string().max(64).nullish(),
  model: z.string().max(255).nullish(),
  tier: z.string().max(32).nullish(),
  external_subscription_id: key.nullish(),
  subject: z.object({ kind: z.enum(SUBJECT_KINDS), value: key }).nullish(),
  transaction_id: key.nullish(),
  timestamp: z.union([z.number(), key]).nullish(),
  code: key.nullish(),
  properties: anyValue({ max: PROPERTIES_MAX }).optional(),
  emit: z.enum(EMITS).nullish(),
  svc_hold_id: z.uuid().nullish(),
  hold_key: z.string().max(255).nullish(),
  reported_cost: z.union([key, z.number()]).nullish(),
  input_includes_cache: z.boolean().nullish(),
});

/** Fields of `ai_usage` as it is sent. */
export const AI_USAGE_FIELDS: ReadonlySet<string> = new Set(Object.keys(AiUsageInput.shape));

/** Bodies of the writes, as the documentation shows them; the events lane reads them with plain checks. */
export const AiUsageBody = z.object({ ai_usage: AiUsageInput });
export const AiUsagesBody = z.object({ ai_usages: list(AiUsageInput, { max: USAGES_MAX }) });
/** The preview reads the same field by the same checks. */
export const PreviewedUsage = anyValue({ max: BODY_VALUES_MAX, textMax: BODY_MAX_BYTES });

/** A call as it is shown; what is not known is null. */
const AiUsageView = z.object({
  transaction_id: z.string(),
  format: z.string().nullable(),
  provider: z.string().nullable(),
  model: z.string().nullable(),
  model_reported: z.string().nullable(),
  tier: z.string().nullable(),
  status: z.string().nullable(),
  flags: z.array(z.string()),
  input_tokens: z.number().nullable(),
  output_tokens: z.number().nullable(),
  tokens: z.number().nullable(),
  book_version: z.int().nullable(),
  currency: z.string(),
  precise_cost_cents: z.string().nullable(),
  precise_amount_cents: z.string().nullable(),
  parts: z.array(
    z.object({
      kind: z.string(),
      quantity: z.string(),
      cost: z.string().nullish(),
      sell: z.string().nullish(),
      per: z.int().nullish(),
      precise_cost_cents: z.string().nullish(),
      precise_amount_cents: z.string().nullish(),
      svc_price_entry_id: z.uuid().nullish(),
      fallback: z.string().nullish(),
    }),
  ),
  matches: z.boolean().optional(),
  unmapped: z.record(z.string(), z.any()),
});
export const AiUsageEnvelope = z.object({ ai_usage: AiUsageView });
/** `events` in place of `event` where each part is an event. */
export const CreatedUsage = z.object({
  event: EventView.optional(),
  events: z.array(EventView).optional(),
  ai_usage: AiUsageView,
  verdict: ExplanationView.optional(),
  verdicts: z.array(ExplanationView).optional(),
});
const UsageResults = z.array(
  z.object({
    index: z.int(),
    transaction_id: z.string().nullable(),
    status: z.enum(['stored', 'replayed', 'rejected', 'ignored']),
    error_details: z.record(z.string(), z.any()).optional(),
    error_places: ErrorPlaces.optional(),
  }),
);
const UsageCounts = z.object({ stored: z.int(), replayed: z.int(), rejected: z.int(), ignored: z.int() });
export const CreatedUsages = z.object({
  events: z.array(EventView),
  ai_usages: z.array(AiUsageView),
  verdicts: z.array(ExplanationView).optional(),
  results: UsageResults.optional(),
  counts: UsageCounts.optional(),
});

/** What became of the records of a gateway. */
export const RecordsResults = z.object({
  results: UsageResults,
  counts: UsageCounts,
  verdicts: z.array(ExplanationView).optional(),
});
/** Answers of OTLP, whose integers of 64 bits are texts. */
const partialSuccess = <Name extends string>(rejected: Name) =>
  z.object({ partialSuccess: z.object({ [rejected]: z.string(), errorMessage: z.string() }).optional() });
export const SpansAnswer = partialSuccess('rejectedSpans');
export const LogRecordsAnswer = partialSuccess('rejectedLogRecords');

export const CallQuery = z.object({ external_subscription_id: textFilter });

export const FormatList = z.object({
  formats: z.array(
    z.object({
      code: z.string(),
      versions: z.array(z.object({ version: z.int(), from: z.iso.datetime() })),
      fields: z.array(z.object({ path: z.string(), kind: z.string(), within: z.string().nullable() })),
    }),
  ),
});

/** How many subjects one request maps. */
const SUBJECTS_MAX = 1000;
/** Code of what is no list. */
const missingOrWrong = {
  error: ({ input }: { input?: unknown }) => (input === undefined || input === null ? MANDATORY : INVALID),
};
const SubjectInput = z.object({
  kind: oneOf(SUBJECT_KINDS),
  value: text({ max: KEY_MAX_BYTES, maxBytes: KEY_MAX_BYTES }),
  external_subscription_id: text({ max: KEY_MAX_BYTES, maxBytes: KEY_MAX_BYTES }).nullable(),
});
export const SubjectsUpdate = z.object({ subjects: list(SubjectInput, { max: SUBJECTS_MAX, wrong: missingOrWrong }) });
export type SubjectsUpdate = z.output<typeof SubjectsUpdate>;
const SubjectView = z.object({ kind: z.string(), value: z.string(), external_subscription_id: z.string() });
export const SubjectsEnvelope = z.object({ subjects: z.array(SubjectView) });
export const SubjectList = z.object({ subjects: z.array(SubjectView), meta: PageMeta });
export const SubjectListQuery = z.object({ ...pageQuery, kind: textFilter, value: textFilter });
export type SubjectListQuery = z.output<typeof SubjectListQuery>;

export const SetupInput = z.object({ setup: named(boolean(), { max: 1 }).nullish() });
export const SetupEnvelope = z.object({
  setup: z.object({ billable_metrics: z.array(z.object({ svc_id: z.uuid(), code: z.string(), is_new: z.boolean() })) }),
});
