import { z } from 'zod';
import { isKind, isTokenKind, type Kind, propertyOf } from '../../../engine/ai/kinds.ts';
import { STANDARD_TIER } from '../../../engine/ai/rating/price-row.ts';
import type { Measure } from '../../../engine/budgets/budget.ts';
import { decimal, sum } from '../../../engine/money/decimal.ts';
import { named } from '../../../platform/schema/bounded.ts';
import { decimalInput, INVALID, MANDATORY, OUT_OF_RANGE, optionalText, text } from '../../../platform/schema/fields.ts';
import { type AskedModel, type Books, modelKey } from '../../catalog/model-books/model-books.ts';
import type { Catalog } from '../../catalog/usage-shapes/storing-catalog.ts';
import { rateProperties } from '../event-rating/rate-properties.ts';

/** Sizes of names of models, as usage of one has them. Rule: ai-usage.md#input. */
const PROVIDER_MAX = 64;
const MODEL_MAX = 255;
const TIER_MAX = 32;
const KINDS_MAX = 20;
/** Most of anything that one call may use. */
const QUANTITY_MAX = 1e12;

const quantity = () =>
  decimalInput().refine((value) => decimal(value).gte(0) && decimal(value).lte(QUANTITY_MAX), OUT_OF_RANGE);

const areParts = (parts: Record<string, string> | null | undefined): boolean =>
  Object.entries(parts ?? {}).every(
    ([kind, value]) => isKind(kind) && (kind === 'audio_seconds' || decimal(value).isInteger()),
  );

/** What a call may take at most: its parts, or only its tokens in and out. Rule: budgets.md#decisions. */
export const Estimate = z
  .object({
    provider: text({ max: PROVIDER_MAX }),
    model: text({ max: MODEL_MAX }),
    tier: optionalText({ max: TIER_MAX }),
    parts: named(quantity(), { max: KINDS_MAX }).nullish(),
    input_tokens: quantity().nullish(),
    max_output_tokens: quantity().nullish(),
  })
  .refine(({ parts }) => areParts(parts), { message: INVALID, path: ['parts'] })
  .refine(({ input_tokens: given }) => areParts(given ? { input: given } : null), {
    message: INVALID,
    path: ['input_tokens'],
  })
  .refine(({ max_output_tokens: given }) => areParts(given ? { output: given } : null), {
    message: INVALID,
    path: ['max_output_tokens'],
  })
  .refine((estimate) => Object.keys(partsOf(estimate)).length > 0, { message: MANDATORY, path: ['parts'] });
export type Estimate = z.infer<typeof Estimate>;

interface Quantities {
  parts?: Readonly<Record<string, string>> | null | undefined;
  input_tokens?: string | null | undefined;
  max_output_tokens?: string | null | undefined;
}

/** Parts win over tokens in and out. */
function partsOf({ parts, input_tokens: input, max_output_tokens: output }: Quantities): Partial<Record<Kind, string>> {
  return {
    ...(input ? { input } : {}),
    ...(output ? { output } : {}),
    ...(parts as Partial<Record<Kind, string>> | null | undefined),
  };
}

/** The model of an estimate, in the book of its organization. */
export const modelOfEstimate = ({ provider, model }: Estimate, { book }: Catalog): AskedModel => ({
  book,
  provider,
  model,
});

/** Figures of an estimate by measure; null: the price is not known. Units are not known of a call. */
export type EstimatedFigures = Partial<Record<Measure, string | null>>;

/**
 * What a call costs at most by the book of now, in cents, and its tokens.
 *
 *   beta, 8 000 in at 3, 4 096 out at 15 for a million → 8.544 cents (BU1)
 *
 * at  ISO text with microseconds
 *
 * Rule: budgets.md#decisions "what is asked".
 */
export function estimatedFigures(
  estimate: Estimate,
  { catalog, books, at }: { catalog: Catalog; books: Books; at: string },
): EstimatedFigures {
  const parts = Object.entries(partsOf(estimate)) as [Kind, string][];
  // Whatever the cost of a call is taken from when it is stored: nobody has reported it yet.
  const version = { ...catalog.book, settings: { ...catalog.book.settings, costSource: 'book' as const } };
  const properties = {
    provider: estimate.provider,
    model: estimate.model,
    tier: estimate.tier?.trim() || STANDARD_TIER,
    ...Object.fromEntries(parts.map(([kind, value]) => [propertyOf(kind), value])),
  };
  const book = books.get(modelKey(modelOfEstimate(estimate, catalog)))!; // read with those of settlements
  const rated = rateProperties(properties, {}, { book, version, at });
  const cost = rated.properties.ai_cost_cents;
  const tokens = parts.filter(([kind]) => isTokenKind(kind)).map(([, value]) => decimal(value));
  return {
    cost: typeof cost === 'string' ? cost : null,
    amount: rated.amountCents,
    tokens: sum(tokens).toFixed(),
  };
}
