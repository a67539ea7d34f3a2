import type { ExtractedUsage } from '../../../engine/ai/extract-usage.ts';
import { KINDS, type Kind, partsOfProperties } from '../../../engine/ai/kinds.ts';
import { propertyText } from '../../../engine/metrics/property-text.ts';
import { decimal, decimalText, plainText, sum } from '../../../engine/money/decimal.ts';
import { own } from '../../../engine/own.ts';
import type { ExplainedPart, ExplainedRating } from '../event-rating/explain-rating.ts';
import type { RatedCall } from '../events/rated-call.ts';
import { amountJson } from '../events/view.ts';

/** The parts of a stored event that say what a call used. */
export interface StoredCall {
  transaction_id: string;
  properties: Record<string, unknown>;
  precise_total_amount_cents: string | null;
}

type Properties = Record<string, unknown>;

/** How a call is shown, beside its prices. */
interface Shown {
  currency: string;
  unmapped: object;
  /** Its parts with their prices, where they were looked up; `matches` where the call is stored. */
  explained?: Pick<ExplainedRating, 'parts'> & { matches?: boolean };
}

/**
 * A call as `ai_usage` shows it: of its event, or of all events of its parts. What is not known is null.
 *
 * id  transaction id of the call
 */
export function usageView(id: string, calls: readonly StoredCall[], shown: Shown) {
  const [first] = calls;
  const { properties, precise_total_amount_cents: amount } = first!;
  const costs = calls.map((call) => textOf(call.properties, 'ai_cost_cents'));
  const parts = calls.flatMap((call) => Object.entries(partsOfProperties(call.properties)));
  return viewOf(
    {
      transaction_id: id,
      format: textOf(properties, 'ai_format'),
      provider: textOf(properties, 'provider'),
      model: textOf(properties, 'model'),
      model_reported: textOf(properties, 'model_reported'),
      tier: textOf(properties, 'tier'),
      input_tokens: numberOf(properties, 'input_tokens'),
      output_tokens: numberOf(properties, 'output_tokens'),
      rating: {
        status: textOf(properties, 'ai_status'),
        flags: textOf(properties, 'ai_flags'),
        book: textOf(properties, 'ai_book'),
        cost: costs.every((cost) => cost !== null) ? sum(costs.map((cost) => decimal(cost!))).toFixed() : null,
        amount: amount === null ? null : decimal(amount).toFixed(),
      },
      parts: parts
        .sort(([one], [other]) => ORDER.get(one)! - ORDER.get(other)!)
        .map(([kind, quantity]) => ({ kind: kind as Kind, quantity: decimalText(quantity!) })),
    },
    shown,
  );
}

/**
 * JSON text of the same view of a call that was just read from its body, and stored with what rating wrote. Written
 * out, as answers to events are, without an object that is serialised.
 */
export function ratedViewText(
  id: string,
  { format, provider, model, tier, inputTotal, outputTotal, parts }: ExtractedUsage,
  { rated: [members, amount], currency, unmapped }: Pick<Shown, 'currency' | 'unmapped'> & { rated: RatedCall },
): string {
  const written = JSON.parse(`{${members}}`) as Record<'ai_status' | 'ai_book', string> &
    Partial<Record<'ai_flags' | 'ai_cost_cents', string>>;
  const [input, output] = [inputTotal, outputTotal].map((total) => total && Number(plainText(total)));
  let shownParts = '';
  for (const kind of KINDS) {
    const quantity = parts[kind];
    if (!quantity) continue;
    const part = `{"kind":"${kind}","quantity":"${fractional(plainText(quantity))}"}`;
    shownParts = shownParts === '' ? part : `${shownParts},${part}`;
  }
  return (
    `{"transaction_id":${JSON.stringify(id)},"format":"${format}","provider":${JSON.stringify(provider)},` +
    `"model":${JSON.stringify(model)},"model_reported":null,"tier":"${tier}","status":"${written.ai_status}",` +
    `"flags":${JSON.stringify(flagsOf(written.ai_flags))},"input_tokens":${input ?? null},` +
    `"output_tokens":${output ?? null},"tokens":${total(input ?? null, output ?? null)},` +
    `"book_version":${bookVersion(written.ai_book)},"currency":"${currency}",` +
    `"precise_cost_cents":${amountJson(written.ai_cost_cents ?? null)},` +
    `"precise_amount_cents":${amountJson(amount)},"parts":[${shownParts}],"unmapped":${JSON.stringify(unmapped)}}`
  );
}

interface CallFacts {
  transaction_id: string;
  format: string | null;
  provider: string | null;
  model: string | null;
  model_reported: string | null;
  tier: string | null;
  input_tokens: number | null;
  output_tokens: number | null;
  /** Texts as rating wrote them; amounts are plain decimals. */
  rating: Record<'status' | 'flags' | 'book' | 'cost' | 'amount', string | null>;
  parts: Pick<ExplainedPart, 'kind' | 'quantity'>[];
}

const viewOf = (
  { rating, parts, input_tokens, output_tokens, ...names }: CallFacts,
  { currency, unmapped, explained }: Shown,
) => ({
  transaction_id: names.transaction_id,
  format: names.format,
  provider: names.provider,
  model: names.model,
  model_reported: names.model_reported,
  tier: names.tier,
  status: rating.status,
  flags: flagsOf(rating.flags),
  input_tokens,
  output_tokens,
  tokens: total(input_tokens, output_tokens),
  book_version: rating.book === null ? null : bookVersion(rating.book),
  currency,
  precise_cost_cents: rating.cost === null ? null : fractional(rating.cost),
  precise_amount_cents: rating.amount === null ? null : fractional(rating.amount),
  parts: explained?.parts ?? parts,
  ...(explained?.matches === undefined ? {} : { matches: explained.matches }),
  unmapped,
});

/** Both totals, since the event of a part has only its own tokens. */
const total = (input: number | null, output: number | null): number | null =>
  input === null && output === null ? null : (input ?? 0) + (output ?? 0);

const flagsOf = (flags: string | null | undefined): string[] => flags?.split(',') ?? [];

const ORDER: ReadonlyMap<string, number> = new Map(KINDS.map((kind, index) => [kind, index]));

const textOf = (properties: Properties, name: string): string | null => propertyText(own(properties, name));

function numberOf(properties: Properties, name: string): number | null {
  const text = textOf(properties, name);
  return text === null ? null : Number(text);
}

/** A decimal as the API shows it, from its plain text: with at least one fractional digit (json.md). */
const fractional = (text: string): string => (text.includes('.') ? text : `${text}.0`);

/** Version of the organization's prices by which it was rated. */
const bookVersion = (book: string): number => Number(book.split('.', 1)[0]);
