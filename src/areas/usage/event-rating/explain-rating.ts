import type { Kind } from '../../../engine/ai/kinds.ts';
import type { ModelName } from '../../../engine/ai/rating/model-name.ts';
import { ratedParts } from '../../../engine/ai/rating/rated-parts.ts';
import { propertyText } from '../../../engine/metrics/property-text.ts';
import { decimal, decimalText } from '../../../engine/money/decimal.ts';
import { own } from '../../../engine/own.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import type { BookSettings } from '../../catalog/model-books/book-settings.ts';
import type { BookVersion } from '../../catalog/model-books/book-version.ts';
import { readModels } from '../../catalog/model-books/read-models.ts';
import { pricedParts, type RatingTerms, rateProperties } from './rate-properties.ts';

type Properties = Readonly<Record<string, unknown>>;

/** A rated call as its event holds it. */
export interface StoredRating {
  organizationId: OrganizationId;
  /** Those of the organization now; the book's currency does not change. */
  settings: BookSettings;
  properties: Properties;
  /** In cents; null without an amount. */
  amountCents: string | null;
  /** Timestamp of the event, ISO text with microseconds. */
  at: string;
}

/** A part of a call with the price that it was rated by; what has no price is null. */
export interface ExplainedPart {
  kind: Kind;
  quantity: string;
  cost: string | null;
  sell: string | null;
  per: number | null;
  precise_cost_cents: string | null;
  precise_amount_cents: string | null;
  svc_price_entry_id: string | null;
  fallback: Kind | null;
}

export interface ExplainedRating {
  parts: ExplainedPart[];
  /** Whether the prices of the book's version that it names give its amount. */
  matches: boolean;
}

/**
 * Why calls have their amounts: their parts with the prices of the versions of the book that they name, in one
 * statement; null for an event that is not rated.
 *
 * Rule: price-book.md#explained.
 */
export async function explainRatings(db: Db, calls: readonly StoredRating[]): Promise<(ExplainedRating | null)[]> {
  const asked = calls.flatMap((call, index) => {
    const version = versionOf(call);
    return version ? [{ index, call, version }] : [];
  });
  const models = asked.map(({ call, version }) => ({ book: version, ...bookedModel(call.properties) }));
  const books = asked.length === 0 ? [] : await readModels(db, models, { asOf: 'version' });
  const explained: (ExplainedRating | null)[] = calls.map(() => null);
  for (const [place, { index, call, version }] of asked.entries()) {
    const terms = { book: books[place]!, version, at: call.at };
    const { amountCents } = rateProperties(call.properties, {}, terms);
    explained[index] = {
      parts: explainedParts(call.properties, terms),
      matches: amountCents === null ? call.amountCents === null : isEqual(amountCents, call.amountCents),
    };
  }
  return explained;
}

const isEqual = (amount: string, stored: string | null): boolean =>
  stored !== null && decimal(amount).eq(decimal(stored));

/** The parts of a call with their prices. */
export function explainedParts(properties: Properties, terms: RatingTerms): ExplainedPart[] {
  const { parts, prices } = pricedParts(properties, terms);
  return ratedParts(parts, prices, terms.version.settings.currency).map(
    ({ kind, quantity, price, costCents, amountCents }) => ({
      kind,
      quantity: decimalText(quantity),
      cost: price && decimalText(price.row.cost),
      sell: price?.row.sell ? decimalText(price.row.sell) : null,
      per: price?.row.per ?? null,
      precise_cost_cents: costCents && decimalText(costCents),
      precise_amount_cents: amountCents && decimalText(amountCents),
      svc_price_entry_id: price?.row.id ?? null,
      fallback: price?.fallback ?? null,
    }),
  );
}

/** The name under which it was rated. */
const bookedModel = (properties: Properties): ModelName => ({
  provider: propertyText(own(properties, 'provider')) ?? '',
  model: propertyText(own(properties, 'model')) ?? '',
});

const VERSION = /^(\d{1,15})\.(\d{1,15})$/;

/** The versions of both layers that a rated event names; undefined if it names none. */
function versionOf({ organizationId, settings, properties }: StoredRating): BookVersion | undefined {
  const version = VERSION.exec(propertyText(own(properties, 'ai_book')) ?? '');
  if (!version) return undefined;
  const deployment = Number(version[2]);
  return {
    organizationId,
    organization: Number(version[1]),
    deployment,
    settings: { ...settings, usesDeployment: deployment > 0 },
  };
}
