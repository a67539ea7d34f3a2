import type { ExtractedUsage } from '../../../engine/ai/extract-usage.ts';
import { KINDS, type Kind, propertyOf } from '../../../engine/ai/kinds.ts';
import { type Decimal, plainText } from '../../../engine/money/decimal.ts';
import { canonicalText, TooLong, textJson } from '../events/property-json.ts';

/** What an event says of its call: of all of it, or of one part. */
export interface CallPart {
  usage: ExtractedUsage;
  /** The event is of this part alone. */
  kind?: Kind | undefined;
}

/** JSON of a property that the doors write; undefined where the call has none. */
type Writer = (part: CallPart) => string | undefined;

const quantity = (number: Decimal | null | undefined): string | undefined =>
  number ? `"${plainText(number)}"` : undefined;

const partOf =
  (kind: Kind): Writer =>
  ({ usage: { parts }, kind: only }) =>
    only === undefined || only === kind ? quantity(parts[kind]) : undefined;

function tokens({ usage: { inputTotal, outputTotal, parts }, kind }: CallPart): string | undefined {
  if (kind !== undefined) return quantity(parts[kind]);
  return quantity(inputTotal && outputTotal ? inputTotal.plus(outputTotal) : (inputTotal ?? outputTotal));
}

/**
 * Properties that the doors write into the event of a call, in their canonical order. A total that nobody reported is
 * absent. Rule: ai-usage.md#the-event.
 */
const WRITTEN: readonly (readonly [name: string, write: Writer])[] = Object.entries<Writer>({
  ai_flags: ({ usage: { flags } }) => (flags.length > 0 ? textJson(flags.join(',')) : undefined),
  ai_format: ({ usage }) => textJson(usage.format),
  calls: ({ kind }) => (kind === undefined ? '"1"' : undefined),
  input_tokens: ({ usage }) => quantity(usage.inputTotal),
  kind: ({ kind }) => (kind === undefined ? undefined : `"${kind}"`),
  model: ({ usage }) => textJson(usage.model),
  output_tokens: ({ usage }) => quantity(usage.outputTotal),
  provider: ({ usage }) => textJson(usage.provider),
  tier: ({ usage }) => textJson(usage.tier),
  tokens,
  ...Object.fromEntries(KINDS.map((kind) => [propertyOf(kind), partOf(kind)])),
}).sort(([one], [other]) => (one < other ? -1 : 1));

/** Names that the doors and the rating write into an event, beside those that begin with `ai_`. */
export const RESERVED_NAMES: ReadonlySet<string> = new Set([
  ...WRITTEN.map(([name]) => name),
  'provider_reported',
  'model_reported',
]);

/**
 * Canonical JSON text of the properties of a call's event: what was sent, and what the doors write. Written at once,
 * because making an object of both, sorting and writing that took half of the time of the door.
 *
 * sent  flat properties without a reserved name
 * most  characters of the text
 *
 * @throws NotStorable, TooLong as canonicalText does
 */
export function callProperties(sent: Readonly<Record<string, unknown>>, part: CallPart, most: number): string {
  const names = Object.keys(sent).sort();
  let text = '{';
  let next = 0;
  const add = (member: string): void => {
    text = text === '{' ? `{${member}` : `${text},${member}`;
    if (text.length >= most) throw new TooLong();
  };
  const addSent = (): void => {
    const name = names[next]!;
    add(`${textJson(name)}:${canonicalText(sent[name], most)}`);
    next += 1;
  };
  for (const [name, write] of WRITTEN) {
    const json = write(part);
    if (json === undefined) continue;
    while (next < names.length && names[next]! < name) addSent();
    add(`"${name}":${json}`);
  }
  while (next < names.length) addSent();
  return `${text}}`;
}
