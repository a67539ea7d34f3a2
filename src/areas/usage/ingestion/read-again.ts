import type { Context } from '../../../platform/context.ts';
import { type DeadCode, type DeadMessage, deadMessage } from '../connectors/dead-message.ts';
import { decodeMessage } from '../connectors/decode-message.ts';
import { type IncomingBatch, type IncomingEvent, isAccepted, type Verdict } from '../events/incoming-event.ts';
import type { WholeDeadLetter } from './queries.ts';

/** Why a letter stays open. */
export type Failure = Pick<DeadMessage, 'message'> & { code: DeadCode };

interface Reading {
  /** Codes of events by the types of CloudEvents. */
  types: ReadonlyMap<string, string>;
  /** Real time, as ISO text. */
  now: string;
}

/**
 * The events of a message that is tried again, all of which are to be stored or none; or why it cannot be read.
 *
 * Rule: streams.md#retry.
 */
export function batchOfLetter(
  ctx: Context,
  { source_time_text: sourceTime, headers, payload }: Pick<WholeDeadLetter, 'source_time_text' | 'headers' | 'payload'>,
  { types, now }: Reading,
): IncomingBatch | Failure {
  const decoded = decodeMessage(payload, { organizationId: ctx.organizationId, sourceTime, headers, types });
  const events: IncomingEvent[] = [];
  for (const each of decoded) {
    if ('dead' in each) return each.dead;
    events.push(each.event);
  }
  return {
    organization_id: ctx.organizationId,
    sandbox: ctx.sandbox,
    atomic: true,
    received_at: now,
    user_agent: ctx.actor.client ?? null,
    remote_address: null,
    events,
  };
}

/** Undefined when all events are stored, now or earlier; otherwise nothing is. */
export function failureOf(verdicts: readonly Verdict[], payload: Uint8Array): Failure | undefined {
  const failed = verdicts.find((verdict) => !isAccepted(verdict));
  if (failed === undefined) return undefined;
  return failed === 1
    ? deadMessage('value_already_exist', 'transaction_id: value_already_exist', payload)
    : deadMessage('invalid_event', 'an event is refused', payload);
}
