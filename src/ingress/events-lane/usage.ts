import { cloudItems } from '../../areas/usage/ai-doors/cloud-usage.ts';
import type { DoorFacts } from '../../areas/usage/ai-doors/door-facts.ts';
import {
  plainItems,
  readUsageItems,
  refuseLargeBodies,
  type UsageInput,
} from '../../areas/usage/ai-doors/read-usage.ts';
import { BODY_MAX_BYTES } from '../../areas/usage/ai-doors/schema.ts';
import { refuseFaults, usageAnswer } from '../../areas/usage/ai-doors/usage-answer.ts';
import { batchesOf, settlesHolds, verdictsOfCalls, verdictsOfItems } from '../../areas/usage/ai-doors/usage-batches.ts';
import { type AskedDecision, heldCalls, onlySettles } from '../../areas/usage/budget-holds/asked-decision.ts';
import type { EventLimits } from '../../areas/usage/events/batch-limits.ts';
import type { IncomingBatch, Verdict } from '../../areas/usage/events/incoming-event.ts';
import type { EventsForm } from '../../areas/usage/events/read-request.ts';
import type { EventsRequest } from './lane.ts';

/**
 * Usage of models in a request's body, read and checked; nothing of its content is left in the result.
 *
 * @throws Refusal 400, 413 of a provider's body above 256 KiB, 422 of the list
 */
export async function readUsage(
  form: EventsForm,
  request: EventsRequest,
  { facts, limits, sender }: { facts: DoorFacts; limits: EventLimits; sender: UsageInput['sender'] },
): Promise<UsageInput> {
  const scope = { db: request.db(), organizationId: request.identity.organizationId };
  const settings = await facts.settings(scope);
  const { isOfCloudEvents, body, pause } = request;
  const items = isOfCloudEvents
    ? cloudItems(form, body, { limits, types: settings.cloudEventTypes })
    : plainItems(form, body, limits);
  if (mayBeLarge(request)) refuseLargeBodies(items);
  const read = await readUsageItems(items, {
    sender,
    settings,
    pause,
    find: (subjects) => facts.subscriptions(scope, subjects),
    holds: 'named',
  });
  return { form, sender, items: read, ...(isOfCloudEvents ? { isOfCloudEvents: true } : {}) };
}

/** Stores the calls of a request, and its answer. @throws Refusal, as for events */
export async function answerUsage(
  input: UsageInput,
  {
    send,
    settle,
    currency,
  }: {
    send: (batch: IncomingBatch) => Verdict[] | Promise<Verdict[]>;
    settle: (asked: AskedDecision) => Promise<Verdict[][]>;
    currency: string;
  },
): Promise<{ text: string; isReplayed: boolean }> {
  refuseFaults(input);
  if (settlesHolds(input)) return usageAnswer(input, await settledCalls(input, settle), currency);
  const placed = batchesOf(input);
  const verdicts = await Promise.all(placed.batches.map(send));
  return usageAnswer(input, verdictsOfItems(placed, verdicts), currency);
}

/** Settlements of one decision, where each is for itself. */
const SETTLEMENTS_AT_ONCE = 20;

/** Calls that settle holds travel with the decisions about budgets, and those beside them too. */
async function settledCalls(
  { form, items, sender }: UsageInput,
  settle: (asked: AskedDecision) => Promise<Verdict[][]>,
): Promise<Verdict[][]> {
  const calls = heldCalls(items);
  const size = form === 'batch' ? calls.length : SETTLEMENTS_AT_ONCE;
  const parts = Array.from({ length: Math.ceil(calls.length / size) }, (_, index) =>
    calls.slice(index * size, (index + 1) * size),
  );
  const door = { isAtomic: form === 'batch' };
  const settled = await Promise.all(parts.map((part) => settle(onlySettles(part, { sender, door }))));
  return verdictsOfCalls(items, settled.flat());
}

/** Whether a body of the request may be above the limit, by what is known of the request without reading it again. */
export const mayBeLarge = ({ request }: Pick<EventsRequest, 'request'>): boolean =>
  request.headers['content-encoding'] !== undefined || !(Number(request.headers['content-length']) <= BODY_MAX_BYTES);
