import type { Format } from './formats/format.ts';
import { FORMATS, formatOf } from './formats/formats.ts';
import { mergeStream } from './merge-stream.ts';
import { bears, findOne, isMember } from './read-path.ts';
import { usageIn } from './usage-object.ts';

export type Detected = { format: Format } | { isProviderMissing: true } | undefined;

/**
 * The format of a body by its marks, the most specific first; a bare usage object that several libraries spell alike
 * needs the name of a provider. Rule: ai-usage.md#detection.
 */
export function detectFormat(body: unknown, at: string, hasProvider: boolean): Detected {
  for (const code of MARKED) {
    const format = formatOf(code, at);
    if (!format) continue;
    const call = Array.isArray(body) ? mergeStream(format, body) : undefined;
    const sent = call?.body ?? (isMember(body) ? body : undefined);
    if (sent === undefined || !isMarked(format, sent)) continue;
    if (format.needsProvider && !hasProvider && (call ?? usageIn(format, sent))?.isBare)
      return { isProviderMissing: true };
    return { format };
  }
  return undefined;
}

/** Codes of formats that have marks, the most specific first. */
const MARKED = [...new Set(FORMATS.filter(({ marks }) => marks.length > 0).map(({ code }) => code))];

function isMarked({ marks, usage }: Format, body: unknown): boolean {
  if (marks.some((mark) => bears(body, mark))) return true;
  for (const path of usage) {
    const within = path === '' ? undefined : findOne(body, path);
    if (within !== undefined && marks.some((mark) => bears(within, mark))) return true;
  }
  return false;
}
