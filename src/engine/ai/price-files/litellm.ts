import type { Kind } from '../kinds.ts';
import { providerName } from '../providers.ts';
import { STANDARD_TIER } from '../rating/price-row.ts';
import { type FilePrice, isObject, type PriceFile, priceFrom, skip, TOKENS_PER } from './read-price.ts';

/** Prices for one token, by their names without variants. */
const TOKEN_PRICES: ReadonlyMap<string, Kind> = new Map([
  ['input_cost_per_token', 'input'],
  ['output_cost_per_token', 'output'],
  ['cache_read_input_token_cost', 'cache_read'],
  ['cache_creation_input_token_cost', 'cache_write'],
  ['cache_creation_input_token_cost_above_1hr', 'cache_write_1h'],
  ['output_cost_per_reasoning_token', 'reasoning'],
  ['input_cost_per_audio_token', 'input_audio'],
  ['output_cost_per_audio_token', 'output_audio'],
  ['input_cost_per_image_token', 'input_image'],
  ['cache_read_input_audio_token_cost', 'cache_read_audio'],
]);
const THRESHOLD = /_above_(\d{1,7})k_tokens/;
const TIER = /_(batches|priority|flex)$/;
/** Whose models Vertex AI serves is a part of its name there. */
const VERTEX = /^(vertex_ai)-.*$/;
const SEARCH = 'search_context_cost_per_query';
const SEARCH_SIZE = 'search_context_size_medium';

/**
 * Prices of a LiteLLM price map: an object a model, costs for one unit in USD. Zeros are left out, unless accepted:
 * there they mean that a price is not known. Providers have the names that calls of them have.
 *
 *   "input_cost_per_token": 3e-06 → input 3 for a million; "…_above_200k_tokens": 6e-06 → 6 above 200 000 (PB7)
 *
 * Rule: price-book.md#imports.
 */
export function readLitellm(content: unknown, { acceptZero }: { acceptZero: boolean }): PriceFile {
  const file: PriceFile = { prices: [], skipped: {} };
  for (const [key, entry] of Object.entries(isObject(content) ? content : {})) {
    if (key === 'sample_spec' || !isObject(entry)) {
      skip(file, key === 'sample_spec' ? 'sample_spec' : 'unnamed_model');
      continue;
    }
    const sent = entry.litellm_provider;
    if (typeof sent !== 'string' || sent === '') {
      skip(file, 'no_provider');
      continue;
    }
    const provider = providerName(sent.replace(VERTEX, '$1'));
    const prefix = [sent, provider].find((name) => key.startsWith(`${name}/`));
    const model = prefix === undefined ? key : key.slice(prefix.length + 1);
    for (const [name, value] of Object.entries(entry)) {
      const place = placeOf(name);
      if (place === undefined) continue;
      if (place === null) {
        skip(file, 'other_price');
        continue;
      }
      const cost = priceFrom(name === SEARCH && isObject(value) ? value[SEARCH_SIZE] : value, place.per);
      if (cost === null) skip(file, 'invalid_price');
      else if (cost.isZero() && !acceptZero) skip(file, 'zero');
      else file.prices.push({ provider, model, ...place, cost, sell: null });
    }
  }
  return file;
}

type Place = Pick<FilePrice, 'tier' | 'kind' | 'min_input_tokens' | 'per'>;

/** What a field prices; null: a price that the book has no place for; undefined: no price. */
function placeOf(name: string): Place | null | undefined {
  if (!/cost/.test(name)) return undefined;
  if (name === SEARCH) return { tier: STANDARD_TIER, kind: 'web_search', min_input_tokens: 0, per: 1 };
  const tier = TIER.exec(name)?.[1];
  const threshold = THRESHOLD.exec(name)?.[1];
  const base = name.replace(TIER, '').replace(THRESHOLD, '');
  const variant = {
    tier: tier === undefined ? STANDARD_TIER : tier === 'batches' ? 'batch' : tier,
    min_input_tokens: threshold === undefined ? 0 : Number(threshold) * 1000,
  };
  if (base === 'input_cost_per_second') return { ...variant, kind: 'audio_seconds', per: 1 };
  const kind = TOKEN_PRICES.get(base);
  return kind === undefined ? null : { ...variant, kind, per: TOKENS_PER };
}
