import { type Kind, type Parts, partsOfProperties } from '../../../engine/ai/kinds.ts';
import type { ModelName } from '../../../engine/ai/rating/model-name.ts';
import { STANDARD_TIER } from '../../../engine/ai/rating/price-row.ts';
import { type Rating, type RatingStatus, rate } from '../../../engine/ai/rating/rate.ts';
import { centsOf } from '../../../engine/ai/rating/rated-parts.ts';
import { inputTokensOf, type ResolvedPrices, resolvePrices } from '../../../engine/ai/rating/resolve-prices.ts';
import { propertyText } from '../../../engine/metrics/property-text.ts';
import { type Decimal, decimal } from '../../../engine/money/decimal.ts';
import { own } from '../../../engine/own.ts';
import { type BookVersion, versionText } from '../../catalog/model-books/book-version.ts';
import type { ModelBook } from '../../catalog/model-books/read-models.ts';

type Properties = Readonly<Record<string, unknown>>;

/** What a door says of a call beside its properties. */
export interface CallMark {
  /** Main units of the book's currency. */
  reported_cost?: string | undefined;
  served_from_cache?: true | undefined;
  /** A charge of the plan prices it: only its cost is rated. */
  is_priced_by_plan?: true | undefined;
}

export interface RatingTerms {
  book: ModelBook;
  version: BookVersion;
  /** Timestamp of the event, ISO text with microseconds. */
  at: string;
}

/** A call without an amount, under the name that it gave. */
export interface UnpricedCall extends ModelName {
  tier: string;
  /** Whether a price is missing, or else a part of the usage. */
  reason: 'price' | 'usage';
  missing_kinds: readonly Kind[];
  tokens: string;
  /** Versions of the book. */
  book: string;
}

/** What rating says of a call, whose parts stay as they are. */
export interface CallRating {
  status: RatingStatus | 'plan';
  /** Null when it is priced, or when its plan prices it. */
  unpriced: UnpricedCall | null;
  amountCents: string | null;
  /** Whether the book knows the call under another name than it gave; `names` are to be written then. */
  isRenamed: boolean;
  /** Names by the book, and those that the call gave where they differ. */
  names: Names;
  /** What else is written into its properties. */
  written: Written;
}

interface Names {
  provider: string;
  model: string;
  provider_reported?: string;
  model_reported?: string;
}

interface Written {
  ai_book: string;
  ai_cost_cents?: string;
  ai_dimensions?: readonly string[];
  ai_flags?: string;
  ai_reported_cost_cents?: string;
  ai_status: string;
}

/** An event's properties with what rating says of them, and its amount. */
export interface RatedProperties extends Pick<CallRating, 'status' | 'unpriced' | 'amountCents'> {
  properties: Record<string, unknown>;
}

/** What rating writes; a new rating replaces all of it. */
const REPLACED = ['model_reported', 'provider_reported', 'ai_cost_cents', 'ai_flags', 'ai_book', 'ai_status'] as const;
/** Flags of rating; those of a former one do not stay. */
const RATING_FLAG = /^(?:model_without_date|model_unknown|tier_fallback|cost_differs|price_(?:fallback|missing):.*)$/;

/** The model as the call named it, whatever name it was rated under. */
export const calledModel = (properties: Properties): ModelName => ({
  provider: textOf(properties, 'provider_reported') ?? textOf(properties, 'provider') ?? '',
  model: textOf(properties, 'model_reported') ?? textOf(properties, 'model') ?? '',
});

/**
 * Rates a call, for the first time or again. Only `priced` calls have an amount.
 *
 * Rules: price-book.md#rating, price-book.md#the-event.
 */
export function rateCall(properties: Properties, mark: CallMark, terms: RatingTerms): CallRating {
  const { book, version } = terms;
  const { currency, costSource } = version.settings;
  const { parts, prices } = pricedParts(properties, terms);
  const called = calledModel(properties);
  const reportedCostCents = reportedCents(properties, mark, version);
  const rating = rate({
    parts,
    prices,
    currency,
    flags: flagsOf(properties, mark, book),
    costSource,
    reportedCostCents,
  });
  const isPlan = mark.is_priced_by_plan === true || own(properties, 'ai_status') === 'plan';
  const status = isPlan ? 'plan' : rating.status;
  const names: Names = { provider: book.provider, model: book.model };
  const isRenamed = called.provider !== book.provider || called.model !== book.model;
  if (called.provider !== book.provider) names.provider_reported = called.provider;
  if (called.model !== book.model) names.model_reported = called.model;
  const written: Written = { ai_book: versionText(version), ai_status: status };
  if (rating.costCents !== null) written.ai_cost_cents = rating.costCents.toFixed();
  if (rating.flags.length > 0) written.ai_flags = rating.flags.join(',');
  if (reportedCostCents !== null) written.ai_reported_cost_cents = reportedCostCents.toFixed();
  const dimensions = dimensionsOf(properties, version);
  if (dimensions) written.ai_dimensions = dimensions;
  return {
    status,
    unpriced: isPlan || rating.status === 'priced' ? null : unpricedCall(properties, { called, rating, version }),
    amountCents: isPlan ? null : (rating.amountCents?.toFixed() ?? null),
    isRenamed,
    names,
    written,
  };
}

/** The properties of a call as `rateCall` says that they are: the parts stay, what rating says is replaced. */
export function rateProperties(properties: Properties, mark: CallMark, terms: RatingTerms): RatedProperties {
  const rating = rateCall(properties, mark, terms);
  const { status, unpriced, amountCents } = rating;
  return { status, unpriced, amountCents, properties: ratedProperties(properties, rating) };
}

/** Properties of a call with what rating says of it. */
export const ratedProperties = (
  properties: Properties,
  { names, written }: Pick<CallRating, 'names' | 'written'>,
): Record<string, unknown> => ({ ...withoutReplaced(properties), ...names, ...written });

/** Each name is deleted only where it is: a call that is rated for the first time has none of them. */
function withoutReplaced(properties: Properties): Record<string, unknown> {
  const kept: Record<string, unknown> = { ...properties };
  for (const name of REPLACED) if (Object.hasOwn(kept, name)) delete kept[name];
  return kept;
}

/**
 * The properties by which margins are shown apart, for a call that was not rated before; afterwards it keeps those of
 * its first rating, or none, so that a setting of later does not move it to other sums. Rule: margins.md#sums.
 */
const dimensionsOf = (
  properties: Properties,
  { settings: { marginDimensions: names } }: BookVersion,
): readonly string[] | undefined =>
  own(properties, 'ai_status') === undefined && names.length > 0 ? names : undefined;

/** The parts of a call and the prices that hold for it. */
export function pricedParts(
  properties: Properties,
  { book, version, at }: RatingTerms,
): { parts: Parts; prices: ResolvedPrices } {
  const parts = partsOfProperties(properties);
  const prices = resolvePrices(book.table, {
    tier: textOf(properties, 'tier') ?? STANDARD_TIER,
    at,
    // The call's own total: one of several events of a call holds only a part of it.
    inputTokens: wholeNumber(properties, 'input_tokens') ?? inputTokensOf(parts),
    usesDeployment: version.settings.usesDeployment,
  });
  return { parts, prices };
}

const unpricedCall = (
  properties: Properties,
  { called, rating: { missingKinds }, version }: { called: ModelName; rating: Rating; version: BookVersion },
): UnpricedCall => ({
  book: versionText(version),
  ...called,
  tier: textOf(properties, 'tier') ?? STANDARD_TIER,
  reason: missingKinds.length > 0 ? 'price' : 'usage',
  missing_kinds: missingKinds,
  tokens: wholeNumber(properties, 'tokens')?.toString() ?? '0',
});

/** Flags that the door found, and those of the name. */
function flagsOf(properties: Properties, mark: CallMark, book: ModelBook): string[] {
  const found = (textOf(properties, 'ai_flags') ?? '').split(',').filter((flag) => flag && !RATING_FLAG.test(flag));
  if (mark.served_from_cache) found.push('served_from_cache');
  if (book.flag !== null) found.push(book.flag);
  return found;
}

function reportedCents(properties: Properties, mark: CallMark, { settings }: BookVersion): Decimal | null {
  if (mark.reported_cost !== undefined) return centsOf(decimal(mark.reported_cost), settings.currency);
  const kept = textOf(properties, 'ai_reported_cost_cents');
  return kept === null ? null : decimal(kept);
}

function wholeNumber(properties: Properties, name: string): number | undefined {
  const text = textOf(properties, name);
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

const textOf = (properties: Properties, name: string): string | null => propertyText(own(properties, name));
