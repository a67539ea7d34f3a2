import { Temporal } from 'temporal-polyfill';
import { isKind, isTokenKind } from '../kinds.ts';
import { STANDARD_TIER } from '../rating/price-row.ts';
import { isObject, type PriceFile, priceFrom, skip, TOKENS_PER } from './read-price.ts';

const POWER_OF_TEN = /^10{0,9}$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?Z$/;
const WHOLE = /^\d{1,12}$/;

/** Prices of a file of this service: `entries` as the list of prices shows them. Rule: price-book.md#imports. */
export function readMeterstone(content: unknown): PriceFile {
  const file: PriceFile = { prices: [], skipped: {} };
  const entries = isObject(content) && Array.isArray(content.entries) ? content.entries : [];
  for (const entry of entries as unknown[]) {
    if (!isObject(entry)) {
      skip(file, 'unnamed_model');
      continue;
    }
    const { provider, model, kind, tier = STANDARD_TIER, sell = null, min_input_tokens: min = 0 } = entry;
    const isNamed = isText(provider) && isText(model) && isText(tier) && isText(kind) && isKind(kind);
    if (!isNamed || !WHOLE.test(String(min))) {
      skip(file, 'unnamed_model');
      continue;
    }
    const per = entry.per ?? (isTokenKind(kind) ? TOKENS_PER : 1);
    const cost = priceFrom(entry.cost, 1);
    const sold = sell === null ? null : priceFrom(sell, 1);
    if (cost === null || (sell !== null && sold === null) || !POWER_OF_TEN.test(String(per))) {
      skip(file, 'invalid_price');
      continue;
    }
    const { valid_from: from = null, source_ref: ref } = entry;
    // A price whose time cannot be read must not hold at another one.
    if (from !== null && !(isText(from) && isInstant(from))) {
      skip(file, 'invalid_time');
      continue;
    }
    const place = { provider, model, tier, kind, min_input_tokens: Number(min), per: Number(per) };
    const time = isText(from) ? { valid_from: from } : {};
    file.prices.push({ ...place, cost, sell: sold, ...time, ...(isText(ref) ? { source_ref: ref } : {}) });
  }
  return file;
}

/** Whether a text is a time from the year 1 on: before it Postgres counts otherwise. */
function isInstant(text: string): boolean {
  if (!INSTANT.test(text) || text < '0001') return false;
  try {
    Temporal.Instant.from(text);
    return true;
  } catch {
    return false;
  }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
