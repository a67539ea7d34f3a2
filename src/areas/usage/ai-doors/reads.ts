import type { Format } from '../../../engine/ai/formats/format.ts';
import { FORMATS } from '../../../engine/ai/formats/formats.ts';
import { KINDS } from '../../../engine/ai/kinds.ts';
import { realNowExactMs } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import type { ExternalSubscriptionId } from '../../../platform/ids.ts';
import { limitOf, pageMeta } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import { bookSettings } from '../../catalog/model-books/book-settings.ts';
import { readModels } from '../../catalog/model-books/read-models.ts';
import { getBookVersion } from '../../catalog/price-book/queries.ts';
import { explainedParts, explainRatings } from '../event-rating/explain-rating.ts';
import { calledModel, rateProperties } from '../event-rating/rate-properties.ts';
import { callId } from '../events/call-id.ts';
import type { IncomingEvent } from '../events/incoming-event.ts';
import { parseProperties } from '../events/property-json.ts';
import { findEvent, listEventsOfTransactions } from '../events/queries.ts';
import { isoOfMs } from '../events/timestamps.ts';
import { DoorFacts } from './door-facts.ts';
import { doorSettings } from './door-settings.ts';
import { countSubjects, listSubjects, readAiSettings } from './queries.ts';
import { itemOf, readUsageItems, refuseLargeBodies } from './read-usage.ts';
import type { SubjectListQuery } from './schema.ts';
import { type StoredCall, usageView } from './usage-view.ts';

/** The formats, their versions, and the fields of the newest one, from the tables by which bodies are read. */
export async function showFormats() {
  const codes = [...new Set(FORMATS.map(({ code }) => code))];
  return {
    formats: codes.map((code) => {
      const all = FORMATS.filter((format) => format.code === code);
      return {
        code,
        versions: all.map(({ version, from }) => ({ version, from })),
        fields: fieldsOf(all.at(-1)!),
      };
    }),
  };
}

/** Fields that are read without an option of the request, and elements of lists that count. */
const fieldsOf = ({ variants, counts = [] }: Format) => [
  ...variants
    .filter(({ option }) => option === undefined)
    .flatMap(({ fields }) => fields)
    .flatMap(({ path, kind, within = null }) => path.map((each) => ({ path: each, kind, within }))),
  ...counts.map(({ list, type, kind }) => ({ path: `${list}[type=${type}]`, kind, within: null })),
];

/**
 * A stored call with the prices that it was rated by: its event, or the events of its parts. Of several subscriptions
 * that share the transaction id, that of the query, else the one created last.
 *
 * Rule: price-book.md#explained.
 *
 * @throws Refusal 404 event, also for an event that is no call of a model
 */
export async function showCall(
  ctx: Context,
  {
    transaction_id: id,
    query,
  }: { transaction_id: string; query: { external_subscription_id?: ExternalSubscriptionId | undefined } },
) {
  const events = await eventsOfCall(ctx, id, query.external_subscription_id);
  const calls = events
    .map((event) => ({ ...event, properties: parseProperties(event.properties) }))
    .filter(({ properties: own, transaction_id }) => transaction_id === id || Object.hasOwn(own, 'kind'))
    .filter(({ properties }) => Object.hasOwn(properties, 'ai_format'));
  if (calls.length === 0) throw refuse.notFound('event');
  const settings = bookSettings(await readAiSettings(ctx));
  const { organizationId } = ctx;
  const ratings = await explainRatings(
    ctx.db,
    calls.map(({ properties, precise_total_amount_cents: amountCents, timestamp: at }) => ({
      organizationId,
      settings,
      properties,
      amountCents,
      at,
    })),
  );
  const explained = ratings.filter((rating) => rating !== null);
  return {
    ai_usage: usageView(id, calls, {
      currency: settings.currency,
      unmapped: {},
      ...(explained.length < calls.length
        ? {}
        : {
            explained: {
              parts: explained.flatMap(({ parts }) => parts),
              matches: explained.every(({ matches }) => matches),
            },
          }),
    }),
  };
}

/** The event of a call, or those of its parts, which have its transaction id with their kinds. */
async function eventsOfCall(ctx: Context, id: string, subscription: ExternalSubscriptionId | undefined) {
  const event = await findEvent(ctx, id, subscription);
  if (event) return [event];
  const parts = await listEventsOfTransactions(
    ctx,
    KINDS.map((kind) => `${id}#${kind}`),
    subscription,
  );
  const newest = parts.at(-1)?.external_subscription_id;
  return parts
    .filter((part) => part.external_subscription_id === newest)
    .sort((one, other) => kindPlace(one) - kindPlace(other));
}

const kindPlace = ({ transaction_id: id }: { transaction_id: string }): number =>
  KINDS.findIndex((kind) => id.endsWith(`#${kind}`));

/**
 * What would be stored of a call, with the prices that it is rated by; nothing is.
 *
 * @throws Refusal 422 as for a call that is sent
 */
export async function previewCall(ctx: Context, { body }: { body: unknown }) {
  const settings = doorSettings(await readAiSettings(ctx));
  const at = isoOfMs(realNowExactMs());
  const facts = new DoorFacts(() => 0);
  const items = [itemOf(body)];
  refuseLargeBodies(items);
  const [item] = await readUsageItems(items, {
    settings,
    sender: {
      organization_id: ctx.organizationId,
      sandbox: ctx.sandbox,
      received_at: at,
      user_agent: null,
      remote_address: null,
    },
    find: (subjects) => facts.subscriptions(ctx, subjects),
    holds: 'named',
  });
  if (!item || 'ignored' in item) throw refuse.invalid({ body: ['value_is_mandatory'] });
  if ('fault' in item) throw refuse.invalid(item.fault.errors);
  const { call } = item;
  const { calls, parts } = await ratedCalls(ctx, call.events);
  const { unmapped } = call;
  return {
    ai_usage: usageView(callId(call), calls, { currency: settings.currency, unmapped, explained: { parts } }),
  };
}

/** Events as they would be stored, rated by the book of now, and the parts of all of them with their prices. */
async function ratedCalls(ctx: Context, events: readonly IncomingEvent[]) {
  const now = isoOfMs(ctx.now().epochMilliseconds);
  const version = await getBookVersion(ctx);
  const sent = events.map((event) => ({ event, properties: parseProperties(event.properties) }));
  const books = await readModels(
    ctx.db,
    sent.map(({ properties }) => ({ book: version, ...calledModel(properties) })),
  );
  const rated = sent.map(({ event, properties }, index) => {
    const terms = { book: books[index]!, version, at: event.timestamp ?? now };
    const { properties: after, amountCents } = rateProperties(properties, event.ai ?? {}, terms);
    const call: StoredCall = { ...event, properties: after, precise_total_amount_cents: amountCents };
    return { call, parts: explainedParts(properties, terms) };
  });
  return { calls: rated.map(({ call }) => call), parts: rated.flatMap(({ parts }) => parts) };
}

/** Subjects and their subscriptions, by kind and value. */
export async function showSubjects(ctx: Context, { query }: { query: SubjectListQuery }) {
  const [subjects, total] = await Promise.all([
    listSubjects(ctx, { ...query, ...limitOf(query) }),
    countSubjects(ctx, query),
  ]);
  return { subjects, meta: pageMeta(query, total) };
}
