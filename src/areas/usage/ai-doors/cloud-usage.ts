import { own } from '../../../engine/own.ts';
import type { FieldErrors } from '../../../platform/refusal.ts';
import { FORMAT } from '../../../platform/schema/fields.ts';
import type { EventLimits } from '../events/batch-limits.ts';
import { mostEvents } from '../events/batch-limits.ts';
import { cloudEvents, envelopeIn } from '../events/cloud-event.ts';
import { type EventsForm, memberOf } from '../events/read-request.ts';
import { itemOf, listOf, type SentItem } from './read-usage.ts';

/**
 * CloudEvents whose `data` is an `ai_usage`; their attributes say which call it is, whose, and when. Rule:
 * ai-usage.md#cloudevents.
 *
 * types  codes of events by the types of CloudEvents
 *
 * @throws Refusal 400, 422 of the list
 */
export function cloudItems(
  form: EventsForm,
  body: unknown,
  { limits, types }: { limits: EventLimits; types: ReadonlyMap<string, string> },
): SentItem[] {
  const sent = form === 'single' ? [cloudEvents.single(body)] : listOf('ai_usages', body, mostEvents(form, limits));
  return sent.map((each) => cloudItem(each, types));
}

function cloudItem(sent: unknown, types: ReadonlyMap<string, string>): SentItem {
  const errors: FieldErrors = {};
  const { plain, extensions } = envelopeIn(sent, errors, types);
  const data = memberOf(sent, 'data');
  if (typeof data !== 'object' || data === null || Array.isArray(data)) errors.data ??= [FORMAT];
  if (Object.keys(errors).length > 0)
    return { ...itemOf({}), refused: { transaction_id: cloudEvents.transactionId(sent), errors } };
  const usage = data as Record<string, unknown>;
  const properties = own(usage, 'properties');
  const withExtensions =
    extensions.length === 0 || (properties !== undefined && properties !== null && typeof properties !== 'object')
      ? properties
      : { ...(properties ?? {}), ...Object.fromEntries(extensions) };
  const item = itemOf({
    ...usage,
    ...Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== undefined)),
    properties: withExtensions,
  });
  return item;
}
