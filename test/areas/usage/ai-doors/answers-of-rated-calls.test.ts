import fc from 'fast-check';
import { expect, test } from 'vitest';
import { usageAnswer } from '../../../../src/areas/usage/ai-doors/usage-answer.ts';
import { readUsageItem, type UsageItem } from '../../../../src/areas/usage/ai-doors/usage-item.ts';
import { callId } from '../../../../src/areas/usage/events/call-id.ts';
import type { IncomingEvent, Verdict } from '../../../../src/areas/usage/events/incoming-event.ts';
import { canonicalText, parseProperties } from '../../../../src/areas/usage/events/property-json.ts';
import { membersOf, withRating } from '../../../../src/areas/usage/events/rated-call.ts';
import { eventText } from '../../../../src/areas/usage/events/view.ts';

// A call that was just stored is answered from what the ingress read and the few members that rating wrote. The answer
// is, byte for byte, the one that the whole stored event makes.

const AT = '2026-03-01T00:00:00.123456Z';
const sender = {
  organization_id: 'o',
  sandbox: false,
  received_at: AT,
  user_agent: null,
  remote_address: null,
};
const settings = {
  eventCode: 'ai_usage',
  emit: 'call' as const,
  subscriptionKeys: ['external_subscription_id'],
  cloudEventTypes: new Map<string, string>(),
  currency: 'USD',
};

const number = fc.oneof(fc.nat({ max: 20 }), fc.nat({ max: 20_000_000 }), fc.constant(1_000_000_000_000));
const text = fc.oneof(
  fc.constantFrom('a', '"ai_format":"x"', '"ai_flags":"', 'é\n', 'ai_format'),
  fc.string({ maxLength: 8 }),
);
const names = fc.constantFrom('agent', 'aa', 'ai', 'ai-b', 'calls_of', 'é', 'q"', 'tokens_x', 'zz', 'Model', '');
const parts = fc.record(
  {
    input: number,
    cache_read: number,
    output: number,
    reasoning: number,
    output_image: number,
    web_search: number,
    audio_seconds: fc.oneof(number, fc.constantFrom(0.5, 12.25, 1e-7)),
  },
  { requiredKeys: [] },
);
const sent = fc.record(
  {
    parts: parts.filter((all) => Object.keys(all).length > 0),
    provider: fc.constantFrom('openai', 'own "provider"', 'é'),
    model: fc.constantFrom('alpha', 'a"b', 'é-1'),
    tier: fc.constantFrom('standard', 'batch'),
    transaction_id: fc.constantFrom('t1', 'a "b"', 'é'),
    external_subscription_id: fc.constant('s1'),
    timestamp: fc.constantFrom('2026-02-28T10:00:00.5Z', '1772100000.123456'),
    properties: fc.dictionary(names, fc.oneof(text, number, fc.boolean(), fc.double({ noNaN: true })), { maxKeys: 6 }),
  },
  { requiredKeys: ['parts', 'provider', 'model', 'transaction_id', 'external_subscription_id'] },
);
const written = fc.record(
  {
    ai_book: fc.constantFrom('3.1', '0.0'),
    ai_cost_cents: fc.constantFrom('0', '0.45', '12'),
    ai_dimensions: fc.constant(['team', 'a"b']),
    ai_flags: fc.constantFrom('price_fallback:reasoning', 'model_unknown,price_missing:input'),
    ai_reported_cost_cents: fc.constantFrom('1', '0.000000000000001'),
    ai_status: fc.constantFrom('priced', 'partial', 'unpriced'),
  },
  { requiredKeys: ['ai_book', 'ai_status'] },
);
const amount = fc.constantFrom(null, '0', '12', '0.5201', '0.000000000000001');

const calls = fc
  .tuple(sent, written, amount)
  .map(([call, members, cents]) => ({ item: read(call), members, cents }))
  .filter(({ item }) => 'call' in item);

const read = (call: object): UsageItem =>
  readUsageItem(call as never, { settings, subscription: undefined, at: AT, holds: undefined });

const eventOf = (item: UsageItem): IncomingEvent => {
  if (!('call' in item)) throw new Error(JSON.stringify(item));
  return item.call.events[0]!;
};

/** The properties as they are stored, made as an object and written out. */
function storedProperties(event: IncomingEvent, members: object): string {
  const { ai_flags: _, ...door } = parseProperties(event.properties);
  return canonicalText({ ...door, ...members });
}

function verdictsOf(item: UsageItem, members: Record<string, unknown>, cents: string | null): Verdict[] {
  const event = eventOf(item);
  const properties = storedProperties(event, members);
  const stored = { ...event, properties, precise_total_amount_cents: cents };
  const { ai_format } = parseProperties(event.properties);
  return [
    { s: eventText({ ...stored, timestamp: event.timestamp ?? AT, created_at: AT }) },
    { c: [membersOf({ ...members, ai_format }), cents] },
  ];
}

test('what rating wrote stands in the place of the members of the door that begin with ai_', () => {
  fc.assert(
    fc.property(calls, ({ item, members }) => {
      const event = eventOf(item);
      const { ai_format } = parseProperties(event.properties);
      expect(withRating(event.properties, membersOf({ ...members, ai_format }))).toBe(storedProperties(event, members));
    }),
    { numRuns: 2000 },
  );
});

test('a call is answered alike from what rating wrote and from the whole stored event', () => {
  fc.assert(
    fc.property(calls, fc.constantFrom('single' as const, 'batch' as const, 'tolerant' as const), (call, form) => {
      const input = { form, sender, items: [call.item] };
      const [whole, short] = verdictsOf(call.item, call.members, call.cents);
      expect(usageAnswer(input, [[short!]], 'USD').text).toBe(usageAnswer(input, [[whole!]], 'USD').text);
    }),
    { numRuns: 2000 },
  );
});

test('a call that came in a job, without what it was read from, is answered alike', () => {
  fc.assert(
    fc.property(calls, (call) => {
      const [, short] = verdictsOf(call.item, call.members, call.cents);
      const asSent = { form: 'single' as const, sender, items: [call.item] };
      const inJob = { ...asSent, items: [JSON.parse(JSON.stringify(call.item)) as UsageItem] };
      expect(usageAnswer(inJob, [[short!]], 'USD').text).toBe(usageAnswer(asSent, [[short!]], 'USD').text);
    }),
    { numRuns: 500 },
  );
});

test('properties of a call are canonical, with those that were sent in their places', () => {
  fc.assert(
    fc.property(calls, ({ item }) => {
      const event = eventOf(item);
      expect(event.properties).toBe(canonicalText(parseProperties(event.properties)));
      expect('call' in item && callId(item.call)).toBe(event.transaction_id);
    }),
    { numRuns: 1000 },
  );
});
