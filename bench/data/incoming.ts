import type { IncomingBatch, IncomingEvent } from '../../src/areas/usage/events/incoming-event.ts';
import { parseEvent } from '../../src/areas/usage/events/parse-event.ts';
import { realNow } from '../../src/platform/clock/real-clock.ts';
import { type EventSource, eventJson } from './event-source.ts';

/** Events as the ingress hands them to storage: parsed, checked, with ids and digests. */
export function incomingEvents(source: EventSource, first: number, count: number): IncomingEvent[] {
  return Array.from({ length: count }, (_, index) => {
    const parsed = parseEvent(JSON.parse(eventJson(source, first + index)));
    if (!parsed.ok) throw new Error(`an event of the bench is refused: ${JSON.stringify(parsed.errors)}`);
    return parsed.event;
  });
}

/** Batches of requests with one event each, as `POST /events` makes them and a storing worker reads them from a job. */
export const singleBatches = (organizationId: string, events: IncomingEvent[]): IncomingBatch[] =>
  JSON.parse(
    JSON.stringify(events.map((event) => ({ ...requestFacts(organizationId), atomic: false, events: [event] }))),
  );

const requestFacts = (organizationId: string) => ({
  organization_id: organizationId,
  sandbox: false,
  received_at: realNow().toString({ fractionalSecondDigits: 6 }),
  user_agent: 'bench',
  remote_address: '127.0.0.1',
});
