import { type Decimal, ZERO } from '../money/decimal.ts';
import { type CallNames, type Faults, namesOf } from './call-names.ts';
import { closeParts, type ReadField } from './close-parts.ts';
import { detectFormat } from './detect-format.ts';
import type { Format } from './formats/format.ts';
import { formatName, formatOf } from './formats/formats.ts';
import { INPUT_KINDS, isKind, type Kind, OUTPUT_KINDS, type Parts } from './kinds.ts';
import { MOST_EVENTS, mergeStream } from './merge-stream.ts';
import { bears, findOne, firstText, isMember } from './read-path.ts';
import { reportedCost } from './reported-cost.ts';
import { unmappedFields } from './unmapped-fields.ts';
import { type CallBody, grandTotal, placeText, readFields, usageIn } from './usage-object.ts';

const MANDATORY = 'value_is_mandatory';
const UNSUPPORTED = 'unsupported_value';
const FORMAT = 'invalid_format';
const INVALID = 'value_is_invalid';
const TOO_LONG = 'value_is_too_long';

/** What a caller says about one call, as it was sent. */
export interface UsageInput {
  /** A code, or `auto`, which is the default. */
  format?: unknown;
  body?: unknown;
  parts?: unknown;
  provider?: unknown;
  model?: unknown;
  tier?: unknown;
  reported_cost?: unknown;
  /** A gateway's form of Anthropic's answer, whose input contains what was cached. */
  input_includes_cache?: unknown;
}

export interface ExtractedUsage extends CallNames {
  /** `openai_chat/1` */
  format: string;
  parts: Parts;
  /** Null if there is no part of that side. */
  inputTotal: Decimal | null;
  outputTotal: Decimal | null;
  /** Sorted, each once. */
  flags: string[];
  /** Totals that the producer did not report: `input_tokens`, `output_tokens`. */
  missing: string[];
  unmapped: Record<string, number | boolean | string>;
  /** The answer's own id. */
  id: string | null;
  /** Plain decimal text in main units. */
  reportedCost: string | null;
  servedFromCache: boolean;
}

export type Extraction =
  | { ok: true; usage: ExtractedUsage }
  | { ok: false; faults: Faults }
  /** A call that failed without using anything. */
  | { ok: false; isIgnored: true };

/**
 * The disjoint parts of one call, from what its provider, a gateway or its caller reported. Nothing of its content is
 * kept. All faults of the input are found together, by field.
 *
 * at       ISO text of the instant by which versions of formats are chosen
 * version  of the format, instead of the one in use then
 *
 *   {body: {model: 'alpha', usage: {prompt_tokens: 1000, completion_tokens: 200}}} → input 1000, output 200
 *
 * Rules: ai-usage.md#input, ai-usage.md#formats.
 */
export function extractUsage(input: UsageInput, at: string, version?: number): Extraction {
  const faults: Faults = {};
  const format = chooseFormat(input, { at, version }, faults);
  const call = format && callOf(format, input, faults);
  if (format?.failed && !call && bears(input.body, format.failed)) return { ok: false, isIgnored: true };
  const names = namesOf(
    { provider: input.provider, model: input.model, tier: input.tier },
    call && format,
    call?.body,
    faults,
  );
  const { input_includes_cache: isInclusive } = input;
  if (isInclusive !== undefined && isInclusive !== null && typeof isInclusive !== 'boolean')
    faults.input_includes_cache = [INVALID];
  const cost = costOf(input, format, call, faults);
  const read = call && numbersOf(format!, call, isInclusive === true, faults);
  if (!format || !call || !read || Object.keys(faults).length > 0) return { ok: false, faults };
  if (format.failed && bears(call.body, format.failed) && read.fields.every(({ quantity }) => !quantity?.gt(0)))
    return { ok: false, isIgnored: true };
  return { ok: true, usage: usageOf(names, { format, call, read, reportedCost: cost }) };
}

function chooseFormat(
  { format: sent, body, parts, provider }: UsageInput,
  { at, version }: { at: string; version: number | undefined },
  faults: Faults,
): Format | undefined {
  const code = sent === undefined || sent === null || sent === '' ? 'auto' : sent;
  if (typeof code !== 'string') {
    faults.format = [INVALID];
    return undefined;
  }
  if (code !== 'auto') {
    const format = formatOf(code, at, version);
    if (!format) faults.format = [UNSUPPORTED];
    return format;
  }
  if (parts !== undefined && parts !== null) return formatOf('canonical', at, version);
  if (body === undefined || body === null) {
    faults.body = [MANDATORY];
    return undefined;
  }
  if (Array.isArray(body) && body.length > MOST_EVENTS) {
    faults.body = [TOO_LONG];
    return undefined;
  }
  const found = detectFormat(body, at, typeof provider === 'string' && provider.trim() !== '');
  if (found === undefined) faults.format = [MANDATORY];
  else if ('isProviderMissing' in found) faults.provider = [MANDATORY];
  else return found.format;
  return undefined;
}

/** What the call is read from. */
function callOf(format: Format, { body, parts }: UsageInput, faults: Faults): CallBody | undefined {
  if (isAsItIs(format)) return partsAsSent(parts, faults);
  let call: CallBody | undefined;
  if (!Array.isArray(body)) call = isMember(body) ? usageIn(format, body) : undefined;
  else if (body.length > MOST_EVENTS) faults.body = [TOO_LONG];
  else call = mergeStream(format, body);
  if (!call) faults.body ??= [body === undefined || body === null || typeof body === 'object' ? MANDATORY : INVALID];
  return call;
}

const isAsItIs = ({ code }: Format): boolean => code === 'canonical';

function partsAsSent(parts: unknown, faults: Faults): CallBody | undefined {
  if (parts === undefined || parts === null) faults.parts = [MANDATORY];
  else if (!isMember(parts)) faults.parts = [INVALID];
  else {
    const sent = Object.keys(parts).filter((kind) => parts[kind] !== null);
    if (sent.length === 0) faults.parts = [MANDATORY];
    if (!sent.every(isKind)) faults.parts = [INVALID];
    return { body: {}, bodyAt: [], usage: parts, usageAt: [], isBare: true };
  }
  return undefined;
}

interface Numbers {
  fields: ReadField[];
  flag: string | undefined;
  grand: Decimal | undefined;
}

function numbersOf(format: Format, call: CallBody, includesCache: boolean, faults: Faults): Numbers {
  const places: string[] = [];
  const { fields, flag } = readFields(format, call, { faults: places, includesCache });
  const grand = grandTotal(format, call, places);
  for (const place of places) faults[`${isAsItIs(format) ? 'parts' : 'body'}.${place}`] = [FORMAT];
  return { fields, flag, grand };
}

/** What is sent beside the body, else what the body says. */
function costOf(
  { reported_cost: sent }: UsageInput,
  format: Format | undefined,
  call: CallBody | undefined,
  faults: Faults,
): string | null {
  const own = reportedCost(sent);
  if (own === undefined) faults.reported_cost = [FORMAT];
  if (own !== null || !call) return own ?? null;
  const path = format?.names.cost?.find((each) => findOne(call.body, each) !== undefined);
  if (path === undefined) return null;
  const found = reportedCost(findOne(call.body, path));
  if (found === undefined) faults[placeText(['body', ...call.bodyAt, path])] = [FORMAT];
  return found ?? null;
}

/** Written out, field by field: it is made for every call, and spreading objects into it took a fifth of the time. */
function usageOf(
  { provider, model, tier }: CallNames,
  {
    format,
    call,
    read: { fields, flag, grand },
    reportedCost,
  }: { format: Format; call: CallBody; read: Numbers; reportedCost: string | null },
): ExtractedUsage {
  const hasCachedDetails =
    format.cachedDetails !== undefined && findOne(call.usage, format.cachedDetails) !== undefined;
  const { parts, isExceeded, isOverlapAssumed } = closeParts(fields, hasCachedDetails);
  const inputTotal = totalOf(parts, INPUT_KINDS);
  const outputTotal = totalOf(parts, OUTPUT_KINDS);
  const ours = inputTotal && outputTotal ? inputTotal.plus(outputTotal) : (inputTotal ?? outputTotal ?? ZERO);
  const isAll = grand?.eq(ours);
  const missing = isAsItIs(format) ? [] : missingTotals(format, call, { fields, outputTotal, isAll });
  const unmapped = unmappedFields(format, call);
  const servedFromCache = isHit(format, call.body);
  const flags: string[] = [];
  if (flag !== undefined) flags.push(flag);
  if (isExceeded) flags.push('parts_exceed_total');
  if (isOverlapAssumed) flags.push('overlap_assumed');
  if (isAll === false) flags.push('total_differs');
  if (servedFromCache) flags.push('served_from_cache');
  for (const total of missing) flags.push(`missing:${total}`);
  for (const path of unmapped.flagged) flags.push(`unmapped_field:${path}`);
  return {
    provider,
    model,
    tier,
    format: formatName(format),
    parts,
    inputTotal,
    outputTotal,
    flags: flags.sort(),
    missing,
    unmapped: unmapped.shown,
    id: firstText(call.body, format.names.id, format.flatPrefix !== undefined) ?? null,
    reportedCost,
    servedFromCache,
  };
}

/** Sum of the parts of one side; null if there are none. */
function totalOf(parts: Parts, kinds: readonly Kind[]): Decimal | null {
  let total: Decimal | undefined;
  for (const kind of kinds) {
    const part = parts[kind];
    if (part) total = total === undefined ? part : total.plus(part);
  }
  return total ?? null;
}

/**
 * Totals that were not reported, so that nobody knows what the call costs. A call without output needs none: its grand
 * total says that there is nothing else, or it is one of vectors or of an order.
 */
function missingTotals(
  format: Format,
  { body, usage }: CallBody,
  {
    fields,
    outputTotal,
    isAll,
  }: { fields: readonly ReadField[]; outputTotal: Decimal | null; isAll?: boolean | undefined },
): string[] {
  const isFlat = format.flatPrefix !== undefined;
  const isReported = (kind: Kind): boolean =>
    fields.some(({ row, quantity }) => row.kind === kind && row.within === undefined && quantity !== undefined);
  const needsNoOutput = (format.completeWithout ?? []).some(
    (mark) => bears(body, mark, isFlat) || bears(usage, mark, isFlat),
  );
  const missing: string[] = [];
  if (!isReported('input') && !(needsNoOutput && outputTotal === null)) missing.push('input_tokens');
  if (!isReported('output') && !needsNoOutput && !isAll) missing.push('output_tokens');
  return missing;
}

function isHit({ names }: Format, body: unknown): boolean {
  const value = names.cacheHit?.map((path) => findOne(body, path)).find((each) => each !== undefined);
  return value === true || (typeof value === 'string' && value.toLowerCase() === 'true');
}
