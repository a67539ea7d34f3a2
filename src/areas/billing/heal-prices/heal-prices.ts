import type { ModelName } from '../../../engine/ai/rating/model-name.ts';
import { decimal, sum, ZERO } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import type { ExternalSubscriptionId } from '../../../platform/ids.ts';
import { type BookVersion, versionText } from '../../catalog/model-books/book-version.ts';
import { type ModelBook, readModels } from '../../catalog/model-books/read-models.ts';
import { getBookVersion } from '../../catalog/price-book/queries.ts';
import { lockForCorrection } from '../../usage/event-corrections/apply-correction.ts';
import type { EventAmendment, EventToCorrect } from '../../usage/event-corrections/lock-events.ts';
import { policyOf } from '../../usage/event-corrections/policy.ts';
import { rateProperties } from '../../usage/event-rating/rate-properties.ts';
import { canonicalText, parseProperties } from '../../usage/events/property-json.ts';
import { amendCalls, billInAdvance } from './amend-calls.ts';
import { findSubscription, listModelsToLookAt, markLookedAt, takeWaiting } from './waiting-calls.ts';

/** How many calls one transaction rates. */
const PAGE = 500;
/** How many models one transaction looks at that still have no price. */
const MODELS = 1000;

/**
 * Step `heal-prices`: rates calls that wait for a price by the book as it is now, at their own time. One page of one
 * subscription, then the next step; without any left it ends. What becomes `priced` is amended as any event: usage of
 * open periods is right, issued invoices are settled by the policy of corrections. Calls that are billed in advance are
 * billed then, once. Safe to run twice.
 *
 * Rule: price-book.md#healing.
 */
export async function healPrices(ctx: Context): Promise<void> {
  const book = await getBookVersion(ctx);
  const version = versionText(book);
  const waiting = await listModelsToLookAt(ctx, version, MODELS);
  if (waiting.length === 0) return;
  const books = await readModels(
    ctx.db,
    waiting.map((name) => ({ book, ...name })),
  );
  const found = waiting.findIndex((_, index) => books[index]!.size > 0);
  if (found === -1) {
    await markLookedAt(ctx, waiting, version);
  } else {
    const name = waiting[found]!;
    const subscription = await findSubscription(ctx, name, version);
    if (subscription === undefined) await markLookedAt(ctx, [name], version);
    else await healPage(ctx, { name, subscription, book, modelBook: books[found]! });
  }
  ctx.after({ step: 'heal-prices', payload: {} });
}

interface Waiting {
  name: ModelName;
  subscription: ExternalSubscriptionId;
  book: BookVersion;
  modelBook: ModelBook;
}

async function healPage(ctx: Context, { name, subscription, book, modelBook }: Waiting): Promise<void> {
  await lockForCorrection(ctx, subscription);
  const version = versionText(book);
  const events = await takeWaiting(ctx, { ...name, subscription, version }, PAGE);
  const amendments = events.flatMap((event) => amendmentOf(event, { book, modelBook }));
  if (amendments.length === 0) return;
  const ids = new Set(amendments.map(({ id }) => id));
  const healed = events.filter(({ id }) => ids.has(id));
  const correctionId = await amendCalls(ctx, healed, amendments, {
    kind: 'price_healing',
    reason: 'price_healing',
    subscription,
    policy: await policyOf(ctx, subscription, null),
  });
  await billInAdvance(ctx, [...ids]);
  const amount = sum(amendments.map(({ precise_total_amount_cents: cents }) => (cents ? decimal(cents) : ZERO)));
  ctx.record({
    webhook: {
      type: 'ai_usage.healed',
      objectType: 'ai_usage',
      objectId: correctionId,
      object: { ...name, events: healed.length, precise_amount_cents: amount.toFixed() },
    },
  });
}

/** What a call becomes; nothing while it has no amount. */
function amendmentOf(
  event: EventToCorrect,
  { book, modelBook }: Pick<Waiting, 'book' | 'modelBook'>,
): EventAmendment[] {
  const terms = { book: modelBook, version: book, at: event.timestamp };
  const rated = rateProperties(parseProperties(event.properties), {}, terms);
  if (rated.status !== 'priced') return [];
  const { id, timestamp } = event;
  const properties = canonicalText(rated.properties);
  return [{ id, timestamp, properties, precise_total_amount_cents: rated.amountCents }];
}
