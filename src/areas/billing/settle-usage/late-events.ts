import { z } from 'zod';
import type { Context } from '../../../platform/context.ts';
import { selected } from '../../../platform/db/keyset.ts';
import type { EventId, InvoiceId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { periodicJob } from '../../../platform/periodic-job.ts';
import type { StepPayload } from '../../../steps.ts';
import { keepGathered, takeGathered } from './gathered-late-events.ts';
import { listInPlace } from './issued-fees.ts';
import {
  findLookFrom,
  findStretch,
  listLateGroups,
  listLateGroupsOf,
  listLateOrganizations,
  listLookedAt,
  listSettledWithout,
  lockCursor,
  moveCursor,
  readPage,
  seenAfter,
} from './late-groups.ts';
import { payloadOf } from './settle-late-events.ts';

/** Ids of events in one step, and events of an invoice that one step reads: some tenths of a second. */
const EVENTS_A_STEP = 5000;
/** Events of an organization that one step reads, however many came since the last look: some tenths of a second. */
const EVENTS_A_LOOK = 5000;
/** A metric without usage costs a statement, as much as some events. */
const LEAST_OF_A_METRIC = 100;

/**
 * Makes corrections of events that came after their window was put on a final invoice, where the policy says so. Rules:
 * event-corrections.md#late-events, periodic-jobs.md#late-events.
 */
export const lateEvents = periodicJob({
  name: 'late-events',
  item: z.object({}),
  select: async (sql, _at, reach, page) =>
    selected(await listLateOrganizations(sql, reach, page), page, ({ organization_id, sandbox, seen_id }) => ({
      organization_id,
      sandbox,
      item: {},
      key: `late-${organization_id}-${seen_id ?? 'first'}`,
      resource: { type: 'Organization', id: organization_id },
    })),
  async work(ctx) {
    const seen = await lockCursor(ctx);
    if (seen === undefined) return;
    await lookAtStretch(ctx, seen, null);
  },
  async nextDueAt({ db: sql, organizationId }, after) {
    const due = await listLateOrganizations(sql, { organizationId }, { limit: 1 });
    return due.length > 0 ? after : null;
  },
});

/**
 * Step `look-for-late-events`: looks at the next events of an organization. It ends when another look has begun
 * meanwhile, which sees the same events.
 */
export async function lookForLateEvents(
  ctx: Context,
  { seen_id: seenId, after_id: afterId }: StepPayload<'look-for-late-events'>,
): Promise<void> {
  if ((await lockCursor(ctx)) === seenId) await lookAtStretch(ctx, seenId, afterId);
}

/**
 * Whether an event is late is decided when it is stored, so each is looked at once, late or not. The late ones are
 * gathered; the end of the look owes the settling of all, so that where it was cut does not matter.
 */
async function lookAtStretch(ctx: Context, seenId: string, afterId: string | null): Promise<void> {
  const now = newId();
  const from = await findLookFrom(ctx, seenId);
  if (from === undefined) return settleGatheredByLook(ctx, await moveCursor(ctx, now));
  const stretch = await findStretch(ctx, from, { afterId, limit: EVENTS_A_LOOK });
  await keepGathered(ctx, null, await listLateGroups(ctx, stretch, EVENTS_A_LOOK));
  const seen = await moveCursor(ctx, seenAfter({ seenId, afterId }, stretch, now));
  if (stretch.untilId === null) return settleGatheredByLook(ctx, seen);
  ctx.after({ step: 'look-for-late-events', payload: { seen_id: seen, after_id: stretch.untilId } });
}

/**
 * Step `settle-gathered-late-events`: goes on to owe the settling of what a look has gathered. That of the hourly look
 * ends when another look has begun meanwhile, which may gather more for the same windows and settles all at its end.
 */
export async function settleGathered(ctx: Context, look: StepPayload<'settle-gathered-late-events'>): Promise<void> {
  if ('invoice_id' in look) return settleGatheredFor(ctx, look.invoice_id);
  if ((await lockCursor(ctx)) === look.seen_id) await settleGatheredByLook(ctx, look.seen_id);
}

const settleGatheredByLook = (ctx: Context, seenId: string) => owePages(ctx, null, { seen_id: seenId });

const settleGatheredFor = (ctx: Context, invoiceId: InvoiceId) => owePages(ctx, invoiceId, { invoice_id: invoiceId });

/** Owes the settling of the next gathered groups, and the next step of the look while there are more. */
async function owePages(
  ctx: Context,
  invoiceId: InvoiceId | null,
  look: StepPayload<'settle-gathered-late-events'>,
): Promise<void> {
  const { groups, isLast } = await takeGathered(ctx, invoiceId, EVENTS_A_STEP);
  const lookedFor = invoiceId === null ? {} : { invoice_id: invoiceId };
  for (const group of groups) ctx.after({ step: 'settle-late-events', payload: { ...payloadOf(group), ...lookedFor } });
  if (!isLast) ctx.after({ step: 'settle-gathered-late-events', payload: look });
}

/**
 * Step `look-at-late-events`: looks once more at what came late for an invoice that was made in the place of another
 * one, or that waited for its taxes: until it was final, it was late for nothing. What corrections of late events have
 * settled without the invoice is settled by them with it. Looks at a page of its usage and leaves the rest to the next
 * step; what it gathers is settled at its end.
 *
 * Rules: event-corrections.md#late-events, event-corrections.md#regenerated-invoices.
 */
export async function lookAtLateEvents(
  ctx: Context,
  { invoice_id: invoiceId, seen }: StepPayload<'look-at-late-events'>,
): Promise<void> {
  const invoiceIds = await listInPlace(ctx, invoiceId);
  let left = EVENTS_A_STEP;
  for (const usage of await listLookedAt(ctx, invoiceId, seen ?? null)) {
    const { external_subscription_id, code } = usage;
    const isFirst = seen?.external_subscription_id === external_subscription_id && seen.code === code;
    const after = isFirst ? seen.timestamp : null;
    const goOn = (timestamp: string | null) => {
      const payload = { invoice_id: invoiceId, seen: { external_subscription_id, code, timestamp } };
      ctx.after({ step: 'look-at-late-events', payload });
    };
    if (left <= 0) return goOn(null);
    const page = await readPage(ctx, usage, { seen: after, afterId: invoiceIds[0]!, limit: left });
    if (page.ids.length > 0) await lookAtPage(ctx, invoiceId, invoiceIds, page.ids);
    if (page.events_count >= left) return goOn(page.until!.toString());
    left -= Math.max(page.events_count, LEAST_OF_A_METRIC);
  }
  await settleGatheredFor(ctx, invoiceId);
}

async function lookAtPage(
  ctx: Context,
  invoiceId: InvoiceId,
  invoiceIds: InvoiceId[],
  eventIds: readonly EventId[],
): Promise<void> {
  await keepGathered(ctx, invoiceId, await listLateGroupsOf(ctx, invoiceId, eventIds));
  for (const { correction_id, event_ids } of await listSettledWithout(ctx, { invoiceId, invoiceIds, eventIds }))
    ctx.after({
      step: 'reopen-late-correction',
      payload: { correction_id, invoice_id: invoiceId, event_ids },
    });
}
