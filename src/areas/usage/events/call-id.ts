import type { IncomingEvent } from './incoming-event.ts';

/** Transaction id of a call of a model; events of its parts add their kind to it. */
export function callId({ events, isOfKinds }: { events: readonly IncomingEvent[]; isOfKinds: boolean }): string {
  const { transaction_id: id } = events[0] as IncomingEvent;
  return isOfKinds ? id.slice(0, id.lastIndexOf('#')) : id;
}
