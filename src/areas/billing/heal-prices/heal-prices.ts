import type { ModelName } from '../../../engine/ai/rating/model-name.ts';
import { decimal, sum } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import { type CorrectionId, type ExternalSubscriptionId, newId } from '../../../platform/ids.ts';
import { groupRows } from '../../../platform/lists/group-rows.ts';
import { type BookVersion, versionText } from '../../catalog/model-books/book-version.ts';
import { type ModelBook, readModels } from '../../catalog/model-books/read-models.ts';
import { getBookVersion } from '../../catalog/price-book/queries.ts';
import { lockForCorrections } from '../../usage/event-corrections/apply-correction.ts';
import { holdShapes } from '../../usage/event-corrections/correct-rollups.ts';
import type { EventAmendment } from '../../usage/event-corrections/lock-events.ts';
import { policyOf } from '../../usage/event-corrections/policy.ts';
import { rateProperties } from '../../usage/event-rating/rate-properties.ts';
import { canonicalText, parseProperties } from '../../usage/events/property-json.ts';
import { attempt } from '../settle-usage/attempt-or-undo.ts';
import { amendCalls, billInAdvance } from './amend-calls.ts';
import { listModelsToLookAt, listSubscriptions, markLookedAt, takeWaiting, type WaitingCall } from './waiting-calls.ts';

/** How many calls one transaction rates, */
const PAGE = 500;
/** of how many subscriptions at most: their customers are locked meanwhile, some hundredths of a second for each. */
const SUBSCRIPTIONS = 50;
/** How many models one transaction looks at that still have no price. */
const MODELS = 1000;

/**
 * Step `heal-prices`: rates calls that wait for a price by the book as it is now, at their own time. One page of calls
 * of a model, then the next step; without any left it ends. What becomes `priced` is amended as any event, by a
 * correction for each subscription: usage of open periods is right, issued invoices are settled by the policy of
 * corrections. Calls that are billed in advance are billed then, once. Safe to run twice.
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
    const most = { calls: PAGE, subscriptions: SUBSCRIPTIONS };
    const subscriptions = await listSubscriptions(ctx, { ...name, version }, most);
    if (subscriptions.length === 0) await markLookedAt(ctx, [name], version);
    else await healPage(ctx, { name, subscriptions, book, modelBook: books[found]! });
  }
  ctx.after({ step: 'heal-prices', payload: {} });
}

interface Waiting {
  name: ModelName;
  subscriptions: readonly ExternalSubscriptionId[];
  book: BookVersion;
  modelBook: ModelBook;
}

async function healPage(ctx: Context, { name, subscriptions, book, modelBook }: Waiting): Promise<void> {
  await lockForCorrections(ctx, subscriptions);
  const version = versionText(book);
  const calls = await takeWaiting(ctx, { ...name, subscriptions, version }, PAGE);
  const rated = calls.flatMap((call) => amendmentOf(call, { book, modelBook }));
  await lockShapesOf(ctx, rated);
  const healed: Healed[] = [];
  for (const [subscription, own] of groupRows(rated, ({ call }) => call.external_subscription_id)) {
    const correctionId = await amendOrLeave(ctx, subscription, own);
    if (correctionId !== undefined) healed.push(...own.map((each) => ({ ...each, correctionId })));
  }
  if (healed.length === 0) return;
  await billInAdvance(
    ctx,
    healed.map(({ call }) => call.id),
  );
  const amount = sum(healed.map(({ amendment: { precise_total_amount_cents: cents } }) => decimal(cents!)));
  ctx.record({
    webhook: {
      type: 'ai_usage.healed',
      objectType: 'ai_usage',
      objectId: healed[0]!.correctionId,
      object: { ...name, events: healed.length, precise_amount_cents: amount.toFixed() },
    },
  });
}

/** A call with what it becomes. */
interface Rated {
  call: WaitingCall;
  amendment: EventAmendment;
}

interface Healed extends Rated {
  correctionId: CorrectionId;
}

/** Takes the strongest lock on shapes that a correction among these needs, before a weaker one is held. */
async function lockShapesOf(ctx: Context, rated: readonly Rated[]): Promise<void> {
  const [first] = rated;
  if (first === undefined) return;
  const codes = new Set(rated.map(({ call }) => call.code));
  await holdShapes(ctx, first.call.external_subscription_id, [...codes]);
}

/** A correction that cannot be carried out is undone; its calls wait for another version of the book. */
async function amendOrLeave(
  ctx: Context,
  subscription: ExternalSubscriptionId,
  rated: readonly Rated[],
): Promise<CorrectionId | undefined> {
  const id = newId() as CorrectionId;
  const outcome = await attempt(ctx, id, async (on) =>
    amendCalls(
      on,
      rated.map(({ call }) => call),
      rated.map(({ amendment }) => amendment),
      {
        id,
        kind: 'price_healing',
        reason: 'price_healing',
        subscription,
        policy: await policyOf(on, subscription, null),
      },
    ),
  );
  if ('done' in outcome) return id;
  ctx.log.warn({ subscription, calls: rated.length, ...outcome.failure.error }, 'calls that have a price now wait on');
  return undefined;
}

/** What a call becomes; nothing while it has no amount. */
function amendmentOf(call: WaitingCall, { book, modelBook }: Pick<Waiting, 'book' | 'modelBook'>): Rated[] {
  const terms = { book: modelBook, version: book, at: call.timestamp };
  const rated = rateProperties(parseProperties(call.properties), {}, terms);
  if (rated.status !== 'priced') return [];
  const { id, timestamp } = call;
  const properties = canonicalText(rated.properties);
  return [{ call, amendment: { id, timestamp, properties, precise_total_amount_cents: rated.amountCents } }];
}
