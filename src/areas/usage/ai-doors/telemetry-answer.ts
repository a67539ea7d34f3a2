import type { FieldErrors } from '../../../platform/refusal.ts';
import type { Verdict } from '../events/incoming-event.ts';
import { resultOf } from './usage-answer.ts';
import type { UsageItem } from './usage-item.ts';

/** How many reasons an answer names. */
const MOST_REASONS = 5;

/**
 * A span's id names one call. Its span and its log record say different times and names, and the first of them counts.
 */
const isKnown = ({ transaction_id: codes }: FieldErrors): boolean =>
  Array.isArray(codes) && codes.includes('value_already_exist');

/**
 * The answer of OTLP to calls that were sent as spans or log records: `{}`, or how many were refused and the first
 * reasons. Rule: ai-usage.md#opentelemetry.
 *
 * places    of the records among all of the request
 * verdicts  of the events of each item
 */
export function telemetryAnswer(
  { word, member }: { word: string; member: string },
  { items, places, verdicts }: { items: readonly UsageItem[]; places: readonly number[]; verdicts: Verdict[][] },
): string {
  const reasons = items.flatMap((item, index) => {
    const { errors } = resultOf(item, verdicts[index]!);
    if (!errors || isKnown(errors)) return [];
    const faults = Object.entries(errors).map(([field, codes]) => `${field}: ${[codes].flat().join(', ')}`);
    return [`${word} ${places[index]}: ${faults.join('; ')}`];
  });
  if (reasons.length === 0) return '{}';
  const errorMessage = reasons.slice(0, MOST_REASONS).join('; ');
  return JSON.stringify({ partialSuccess: { [member]: String(reasons.length), errorMessage } });
}
