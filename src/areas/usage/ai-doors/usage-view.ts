import { KINDS, type Kind, partsOfProperties } from '../../../engine/ai/kinds.ts';
import { propertyText } from '../../../engine/metrics/property-text.ts';
import { decimal, decimalText, sum } from '../../../engine/money/decimal.ts';
import { own } from '../../../engine/own.ts';
import type { ExplainedPart, ExplainedRating } from '../event-rating/explain-rating.ts';

/** The parts of a stored event that say what a call used. */
export interface StoredCall {
  transaction_id: string;
  properties: Record<string, unknown>;
  precise_total_amount_cents: string | null;
}

type Properties = Record<string, unknown>;

/**
 * A call as `ai_usage` shows it: of its event, or of all events of its parts. What is not known is null.
 *
 * id         transaction id of the call
 * explained  its parts with their prices, where they were looked up; `matches` where the call is stored
 */
export function usageView(
  id: string,
  calls: readonly StoredCall[],
  {
    currency,
    unmapped,
    explained,
  }: { currency: string; unmapped: object; explained?: Pick<ExplainedRating, 'parts'> & { matches?: boolean } },
) {
  const [first] = calls;
  const properties = first!.properties;
  const costs = calls.map((call) => textOf(call.properties, 'ai_cost_cents'));
  const parts = calls.flatMap((call) => Object.entries(partsOfProperties(call.properties)));
  const amount = first!.precise_total_amount_cents;
  return {
    transaction_id: id,
    format: textOf(properties, 'ai_format'),
    provider: textOf(properties, 'provider'),
    model: textOf(properties, 'model'),
    model_reported: textOf(properties, 'model_reported'),
    tier: textOf(properties, 'tier'),
    status: textOf(properties, 'ai_status'),
    flags: textOf(properties, 'ai_flags')?.split(',') ?? [],
    input_tokens: numberOf(properties, 'input_tokens'),
    output_tokens: numberOf(properties, 'output_tokens'),
    tokens: tokensOf(properties),
    book_version: bookVersion(properties),
    currency,
    precise_cost_cents: costs.every((cost) => cost !== null)
      ? decimalText(sum(costs.map((cost) => decimal(cost!))))
      : null,
    precise_amount_cents: amount === null ? null : decimalText(decimal(amount)),
    parts:
      explained?.parts ??
      parts
        .sort(([one], [other]) => ORDER.get(one)! - ORDER.get(other)!)
        .map(
          ([kind, quantity]): Pick<ExplainedPart, 'kind' | 'quantity'> => ({
            kind: kind as Kind,
            quantity: decimalText(quantity!),
          }),
        ),
    ...(explained?.matches === undefined ? {} : { matches: explained.matches }),
    unmapped,
  };
}

const ORDER: ReadonlyMap<string, number> = new Map(KINDS.map((kind, index) => [kind, index]));

const textOf = (properties: Properties, name: string): string | null => propertyText(own(properties, name));

function numberOf(properties: Properties, name: string): number | null {
  const text = textOf(properties, name);
  return text === null ? null : Number(text);
}

/** Both totals, since the event of a part has only its own tokens. */
function tokensOf(properties: Properties): number | null {
  const [input, output] = [numberOf(properties, 'input_tokens'), numberOf(properties, 'output_tokens')];
  return input === null && output === null ? null : (input ?? 0) + (output ?? 0);
}

/** Version of the organization's prices by which it was rated. */
function bookVersion(properties: Properties): number | null {
  const version = textOf(properties, 'ai_book')?.split('.')[0];
  return version === undefined ? null : Number(version);
}
