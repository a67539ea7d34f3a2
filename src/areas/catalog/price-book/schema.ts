import { z } from 'zod';
import { KINDS } from '../../../engine/ai/kinds.ts';
import { STANDARD_TIER } from '../../../engine/ai/rating/price-row.ts';
import { booleanFilter, listFilter, mandatoryTextFilter, textFilter } from '../../../platform/lists/filters.ts';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { fromFilter } from '../../../platform/lists/time-filters.ts';
import { anyValue, list } from '../../../platform/schema/bounded.ts';
import { elementErrors } from '../../../platform/schema/element-errors.ts';
import { decimalInput, INVALID, integer, oneOf, optionalText, text } from '../../../platform/schema/fields.ts';
import { instantField } from '../../../platform/schema/instant-field.ts';

/** Sizes of names, which rows, indexes and alerts hold. */
export const PROVIDER_MAX_BYTES = 64;
export const MODEL_MAX_BYTES = 255;
export const TIER_MAX_BYTES = 32;
export const SOURCE_MAX = 255;
/** How many entries one request may bring. */
const ENTRIES_MAX = 1000;
/** How many aliases an organization may have. */
const ALIASES_MAX = 5000;
/** Far above what any call holds. */
export const INPUT_TOKENS_MAX = 1_000_000_000_000;

const tier = text({ maxBytes: TIER_MAX_BYTES }).refine((word) => /^[a-z0-9_-]+$/.test(word), INVALID);

const PriceEntryInput = z.object({
  provider: text({ maxBytes: PROVIDER_MAX_BYTES }),
  model: text({ maxBytes: MODEL_MAX_BYTES }),
  tier: tier.default(STANDARD_TIER),
  kind: oneOf(KINDS),
  cost: decimalInput(),
  sell: decimalInput().nullish(),
  per: integer().optional(),
  min_input_tokens: integer({ min: 0, max: INPUT_TOKENS_MAX }).default(0),
  currency: text().optional(),
  valid_from: instantField().optional(),
  source: optionalText({ max: SOURCE_MAX }),
  source_ref: optionalText({ max: SOURCE_MAX }),
});
export type PriceEntryInput = z.output<typeof PriceEntryInput>;

export const PriceEntriesInput = z
  .object({ entries: list(PriceEntryInput, { max: ENTRIES_MAX }) })
  .check(elementErrors('entries'));
export type PriceEntriesInput = z.output<typeof PriceEntriesInput>;

export const LAYERS = ['organization', 'deployment', 'effective'] as const;

export const PriceEntriesQuery = z.object({
  ...pageQuery,
  provider: textFilter,
  model: textFilter,
  tier: textFilter,
  kind: textFilter,
  layer: textFilter.pipe(oneOf(LAYERS).optional()).meta({ type: 'string', enum: [...LAYERS] }),
  at: fromFilter,
});
export type PriceEntriesQuery = z.output<typeof PriceEntriesQuery>;

const PriceEntry = z.object({
  svc_id: z.uuid(),
  layer: z.enum(['organization', 'deployment']),
  provider: z.string(),
  model: z.string(),
  tier: z.string(),
  kind: z.enum(KINDS),
  cost: z.string(),
  sell: z.string().nullable(),
  per: z.int(),
  min_input_tokens: z.int(),
  currency: z.string(),
  valid_from: z.iso.datetime(),
  source: z.string().nullable(),
  source_ref: z.string().nullable(),
  book_version: z.int(),
  created_at: z.iso.datetime(),
});
export type PriceEntryView = z.output<typeof PriceEntry>;

export const PriceEntryEnvelope = z.object({ entry: PriceEntry });
export const PriceEntryList = z.object({ entries: z.array(PriceEntry), meta: PageMeta });
export const PriceEntriesWritten = z.object({
  entries: z.array(PriceEntry),
  book_version: z.int(),
  affects: z.object({ unpriced_events: z.int(), rated_events: z.int() }),
});

export const PriceModelsQuery = z.object({ ...pageQuery, search_term: textFilter, provider: textFilter });
export type PriceModelsQuery = z.output<typeof PriceModelsQuery>;

export const PriceModelList = z.object({
  models: z.array(
    z.object({
      provider: z.string(),
      model: z.string(),
      aliases: z.array(z.string()),
      tiers: z.array(z.string()),
      kinds: z.array(z.enum(KINDS)),
      source: z.string().nullable(),
      newest_valid_from: z.iso.datetime(),
    }),
  ),
  meta: PageMeta,
});

const PATTERN = /^[^*]*\*?$/;

const Alias = z.object({
  provider: text({ maxBytes: PROVIDER_MAX_BYTES }),
  pattern: text({ maxBytes: MODEL_MAX_BYTES }).refine((pattern) => PATTERN.test(pattern), INVALID),
  target_provider: optionalText({ maxBytes: PROVIDER_MAX_BYTES }),
  target_model: text({ maxBytes: MODEL_MAX_BYTES }),
});
export const AliasesInput = z.object({ aliases: list(Alias, { max: ALIASES_MAX }) }).check(elementErrors('aliases'));
export type AliasesInput = z.output<typeof AliasesInput>;

export const AliasList = z.object({
  aliases: z.array(
    z.object({
      provider: z.string(),
      pattern: z.string(),
      target_provider: z.string().nullable(),
      target_model: z.string(),
    }),
  ),
});

export const ResolveQuery = z.object({
  provider: mandatoryTextFilter,
  model: mandatoryTextFilter,
  tier: textFilter,
  at: fromFilter,
  input_tokens: integer({ min: 0, max: INPUT_TOKENS_MAX }).optional(),
});
export type ResolveQuery = z.output<typeof ResolveQuery>;

export const Resolution = z.object({
  resolution: z.object({
    provider: z.string(),
    model: z.string(),
    tier: z.string(),
    at: z.iso.datetime(),
    book_version: z.string(),
    flags: z.array(z.string()),
    prices: z.array(
      z.object({
        kind: z.enum(KINDS),
        cost: z.string(),
        sell: z.string().nullable(),
        per: z.int(),
        min_input_tokens: z.int(),
        valid_from: z.iso.datetime(),
        layer: z.enum(['organization', 'deployment']),
        svc_price_entry_id: z.uuid(),
        fallback: z.enum(KINDS).nullable(),
      }),
    ),
  }),
});

/** Sources whose files an import reads. */
const SOURCES = ['litellm', 'models_dev', 'meterstone'] as const;
/** Elements of one list or object of a file: several times as many as published ones have models. */
export const FILE_MEMBERS_MAX = 20_000;
const FILE = { max: FILE_MEMBERS_MAX, textMax: 100_000 };

export const PriceImportBody = anyValue(FILE);
export const PriceImportQuery = z.object({
  source: textFilter.pipe(oneOf(SOURCES).default('litellm')).meta({ type: 'string', enum: [...SOURCES] }),
  valid_from: fromFilter,
  dry_run: booleanFilter,
  providers: listFilter,
  accept_zero: booleanFilter,
  force: booleanFilter,
});
export type PriceImportQuery = z.output<typeof PriceImportQuery>;

export const PriceImport = z.object({
  import: z.object({
    models: z.int(),
    entries_new: z.int(),
    entries_changed: z.int(),
    entries_unchanged: z.int(),
    skipped: z.record(z.string(), z.int()),
    book_version: z.int(),
    changes: z.array(
      z.object({ model: z.string(), kind: z.string(), from: z.string(), to: z.string(), percent: z.string() }),
    ),
  }),
});
