import { propertyText } from '../metrics/property-text.ts';
import { Decimal } from '../money/decimal.ts';
import { own } from '../own.ts';

/** Kinds of tokens that a model reads. */
export const INPUT_KINDS = [
  'input',
  'cache_read',
  'cache_write',
  'cache_write_1h',
  'input_audio',
  'input_image',
  'input_video',
  'cache_read_audio',
] as const;

/** Kinds of tokens that a model writes. */
export const OUTPUT_KINDS = ['output', 'reasoning', 'output_audio', 'output_image'] as const;

export const TOKEN_KINDS = [...INPUT_KINDS, ...OUTPUT_KINDS] as const;

/** Kinds that are counted otherwise than in tokens. */
export const COUNT_KINDS = [
  'audio_seconds',
  'images',
  'web_search',
  'web_fetch',
  'search_units',
  'classifications',
  'requests',
] as const;

/** Everything of a call that has a price of its own. Rule: ai-usage.md#kinds. */
export const KINDS = [...TOKEN_KINDS, ...COUNT_KINDS] as const;

export type InputKind = (typeof INPUT_KINDS)[number];
export type OutputKind = (typeof OUTPUT_KINDS)[number];
export type TokenKind = (typeof TOKEN_KINDS)[number];
export type Kind = (typeof KINDS)[number];

/** Quantities of one call by kind: ≥ 0, disjoint. A kind that was not reported is absent, which is not 0. */
export type Parts = Partial<Record<Kind, Decimal>>;

const TOKENS: ReadonlySet<string> = new Set(TOKEN_KINDS);
const ALL: ReadonlySet<string> = new Set(KINDS);

export const isKind = (text: string): text is Kind => ALL.has(text);
export const isTokenKind = (kind: Kind): kind is TokenKind => TOKENS.has(kind);

const PROPERTY_OF = Object.fromEntries(
  KINDS.map((kind) => [kind, `${isTokenKind(kind) ? 'tokens' : 'count'}_${kind}`]),
) as Record<Kind, string>;

/** Property of an event that holds a part: `input` → `tokens_input`, `images` → `count_images`. */
export const propertyOf = (kind: Kind): string => PROPERTY_OF[kind];

const KIND_OF: ReadonlyMap<string, Kind> = new Map(KINDS.map((kind) => [propertyOf(kind), kind]));

/** The kind whose part a property holds; undefined for any other property. */
export const kindOfProperty = (property: string): Kind | undefined => KIND_OF.get(property);

const QUANTITY = /^\d+(?:\.\d+)?$/;

/** The parts that properties of an event hold, in the order of KINDS; what is no quantity is absent. */
export function partsOfProperties(properties: Readonly<Record<string, unknown>>): Parts {
  const parts: Parts = {};
  for (const kind of KINDS) {
    const value = own(properties, PROPERTY_OF[kind]);
    if (value === undefined) continue;
    const text = propertyText(value);
    if (text !== null && QUANTITY.test(text)) parts[kind] = new Decimal(text);
  }
  return parts;
}
