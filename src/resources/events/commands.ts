import type { Context } from '../../platform/context.ts';
import { Answer } from '../../platform/operation.ts';
import { assert, refuse } from '../../platform/refusal.ts';
import { catalogOf } from '../usage-shapes/catalog.ts';
import { listCatalogs } from '../usage-shapes/queries.ts';
import type { IncomingBatch, IncomingEvent } from './incoming.ts';
import { answerText, type EventsForm } from './requests.ts';
import { storeBatches } from './storage/store-batches.ts';

/** The shared lock is held after the first try, so the second one's catalog cannot be stale. */
const TRIES = 2;

/** POST /events with an Idempotency-Key: as the events lane, in the command's own transaction (beyond 2). */
export const createEvent = (ctx: Context, { body }: { body: IncomingEvent[] }) => store(ctx, 'single', body);

/**
 * POST /events/batch with an Idempotency-Key.
 *
 * @throws Refusal 422 events: too_many_events, beside those of storing
 */
export function createEvents(ctx: Context, { body }: { body: IncomingEvent[] }): Promise<Answer> {
  if (body.length > ctx.config.EVENTS_BATCH_MAX_LENGTH) throw refuse.invalid({ events: ['too_many_events'] });
  return store(ctx, 'batch', body);
}

async function store(ctx: Context, form: EventsForm, events: IncomingEvent[]): Promise<Answer> {
  const received = ctx.now().toString({ fractionalSecondDigits: 6 });
  const batch: IncomingBatch = {
    organization_id: ctx.organizationId,
    sandbox: ctx.sandbox,
    atomic: true,
    received_at: received,
    user_agent: null,
    remote_address: null,
    events,
  };
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    const [row] = await listCatalogs(ctx.db, [ctx.organizationId]);
    assert(row, 'the organization of a command is there');
    const catalogs = new Map([[row.id, catalogOf(row)]]);
    const { verdicts, batchId } = await storeBatches(ctx.db, [batch], catalogs, received);
    if (!verdicts[0]) continue;
    if (batchId !== null) ctx.after({ job: 'finish-event-batch', payload: { batch_id: batchId } });
    const { text, isReplayed } = answerText(form, batch, verdicts[0]);
    return new Answer(null, { json: text, ...(isReplayed ? { headers: { 'X-Svc-Replayed': 'true' } } : {}) });
  }
  throw new Error('a catalog read under the shared lock is of the present version');
}
