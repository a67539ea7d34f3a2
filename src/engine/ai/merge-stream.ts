import type { Format } from './formats/format.ts';
import { findOne, firstText, isMember, type Member } from './read-path.ts';
import { type CallBody, usageIn } from './usage-object.ts';

/** How many events of a stream are looked at; a long answer has some thousands. */
export const MOST_EVENTS = 10_000;

/**
 * The call that the events of a stream report: of the last event with usage, or, where each event reports a part, with
 * the last value of each field. The id and the model may stand in another event. Undefined without any usage.
 *
 * Rule: ai-usage.md#streams.
 */
export function mergeStream(format: Format, events: readonly unknown[]): CallBody | undefined {
  const found = format.isMerged ? mergedUsage(format, events) : lastUsage(format, events);
  if (found === undefined) return undefined;
  const { body } = found;
  const { names } = format;
  const [id, model] = [namedIn(format, events, names.id), namedIn(format, events, names.model)];
  const missing = {
    ...(firstText(body, names.id) === undefined && id !== undefined ? { id: id } : {}),
    ...(firstText(body, names.model) === undefined && model !== undefined ? { model } : {}),
  };
  return { ...found, body: Object.keys(missing).length === 0 ? body : { ...(body as Member), ...missing } };
}

function* bodiesOf(format: Format, event: unknown): Generator<unknown> {
  for (const path of format.stream) {
    const body = findOne(event, path);
    if (isMember(body)) yield body;
  }
}

function lastUsage(format: Format, events: readonly unknown[]): CallBody | undefined {
  for (let at = events.length - 1; at >= 0; at -= 1)
    for (const body of bodiesOf(format, events[at])) {
      const found = usageIn(format, body, [at]);
      if (found) return found;
    }
  return undefined;
}

/** Fields of all events: they are cumulative, so the last value of each counts; null is none. */
function mergedUsage(format: Format, events: readonly unknown[]): CallBody | undefined {
  let whole: Member = {};
  const merged = new Map<string, unknown>();
  for (const event of events)
    for (const body of bodiesOf(format, event)) {
      const found = usageIn(format, body);
      if (found === undefined) continue;
      if (!found.isBare && whole.usage === undefined) whole = body as Member;
      for (const [name, value] of Object.entries(found.usage)) {
        if (value === null) continue;
        const before = merged.get(name);
        merged.set(name, isMember(value) && isMember(before) ? mergedMember(before, value) : value);
      }
    }
  if (merged.size === 0) return undefined;
  const usage = Object.fromEntries(merged);
  return usageIn(format, { ...whole, usage });
}

const mergedMember = (before: Member, after: Member): Member =>
  Object.fromEntries([...Object.entries(before), ...Object.entries(after).filter(([, value]) => value !== null)]);

function namedIn(format: Format, events: readonly unknown[], paths: readonly string[] = []): string | undefined {
  for (const event of events)
    for (const body of bodiesOf(format, event)) {
      const text = firstText(body, paths);
      if (text !== undefined) return text;
    }
  return undefined;
}
