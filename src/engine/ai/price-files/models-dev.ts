import type { Kind } from '../kinds.ts';
import { providerName } from '../providers.ts';
import { STANDARD_TIER } from '../rating/price-row.ts';
import { isObject, type PriceFile, priceFrom, skip, TOKENS_PER } from './read-price.ts';

const KINDS: ReadonlySet<string> = new Set<Kind>([
  'input',
  'output',
  'cache_read',
  'cache_write',
  'reasoning',
  'input_audio',
  'output_audio',
]);
const LONG_CONTEXT = 'context_over_200k';
const LONG_CONTEXT_FROM = 200_000;

/**
 * Prices of a file of models.dev: providers, in them models with `cost`, USD for a million.
 *
 * Rule: price-book.md#imports.
 */
export function readModelsDev(content: unknown, { acceptZero }: { acceptZero: boolean }): PriceFile {
  const file: PriceFile = { prices: [], skipped: {} };
  for (const [sent, entry] of Object.entries(isObject(content) ? content : {})) {
    const provider = providerName(sent);
    for (const [model, { cost } = {} as Record<string, unknown>] of modelsOf(entry)) {
      if (!isObject(cost)) {
        skip(file, 'no_price');
        continue;
      }
      const add = (kind: string, value: unknown, min_input_tokens: number) => {
        const price = KINDS.has(kind) ? priceFrom(value, 1) : null;
        if (!KINDS.has(kind)) skip(file, 'other_price');
        else if (price === null) skip(file, 'invalid_price');
        else if (price.isZero() && !acceptZero) skip(file, 'zero');
        else {
          const place = { provider, model, tier: STANDARD_TIER, min_input_tokens };
          file.prices.push({ ...place, kind: kind as Kind, cost: price, sell: null, per: TOKENS_PER });
        }
      };
      for (const [kind, value] of Object.entries(cost)) {
        if (kind !== LONG_CONTEXT) add(kind, value, 0);
        else if (isObject(value))
          for (const [long, price] of Object.entries(value)) add(long, price, LONG_CONTEXT_FROM);
      }
    }
  }
  return file;
}

const modelsOf = (entry: unknown): [string, Record<string, unknown>][] =>
  isObject(entry) && isObject(entry.models)
    ? Object.entries(entry.models).filter((model): model is [string, Record<string, unknown>] => isObject(model[1]))
    : [];
