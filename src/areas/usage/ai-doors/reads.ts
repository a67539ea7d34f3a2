import { FORMATS } from '../../../engine/ai/formats/formats.ts';
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
import { findEvent } from '../events/queries.ts';
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
      const [variant] = all.at(-1)!.variants.slice(-1);
      return {
        code,
        versions: all.map(({ version, from }) => ({ version, from })),
        fields: variant!.fields.flatMap(({ path, kind, within = null }) =>
          path.map((each) => ({ path: each, kind, within })),
        ),
      };
    }),
  };
}

/**
 * A stored call with the prices that it was rated by. Of several subscriptions that share the transaction id, that of
 * the query, else the one created last.
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
  const event = await findEvent(ctx, id, query.external_subscription_id);
  const properties = event && parseProperties(event.properties);
  if (!event || !properties || !Object.hasOwn(properties, 'ai_format')) throw refuse.notFound('event');
  const settings = bookSettings(await readAiSettings(ctx));
  const { organizationId } = ctx;
  const { precise_total_amount_cents: amountCents, timestamp: at } = event;
  const [explained] = await explainRatings(ctx.db, [{ organizationId, settings, properties, amountCents, at }]);
  const call = { ...event, properties };
  return {
    ai_usage: usageView(id, [call], {
      currency: settings.currency,
      unmapped: {},
      ...(explained ? { explained } : {}),
    }),
  };
}

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
