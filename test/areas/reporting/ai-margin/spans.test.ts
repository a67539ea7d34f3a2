import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { showMargins } from '../../../../src/areas/reporting/ai-margin/reads.ts';
import { MarginQuery } from '../../../../src/areas/reporting/ai-margin/schema.ts';
import { sumAiDays } from '../../../../src/areas/usage/ai-usage-sums/sum-days.ts';
import { Refusal } from '../../../../src/platform/refusal.ts';
import { type Call, calls, finishAll } from '../../../support/ai-calls.ts';
import { readingAt } from '../../../support/count-statements.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';
import { ok } from '../../../support/words.ts';
import { storage } from '../../usage/ingest-events/build.ts';

// A report over too long a span names the one that fits.

let service: TestService;
let story: Story;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(async () => {
  story = await openStory(service, '2026-03-01T00:00:00Z');
  await story.customer();
});

const call = (day: number, model = 'alpha'): Call => ({
  id: `${day} ${model}`,
  model,
  at: `2026-03-${String(day).padStart(2, '0')}T10:00:00Z`,
  parts: { tokens_input: 1 },
});

/** One or more groups a day, as the sums of days hold them. */
async function send(...given: Call[]) {
  const { store } = storage(service.sql);
  await store(calls(story.organizationId, given, { sandbox: true, received_at: '2026-03-02T12:00:00.000000Z' }));
  await finishAll(service.sql, story.organizationId);
  await sumAiDays.sweep({ sql: service.sql } as never, undefined as never);
}

/** Status and what the answer says, with smaller bounds than those of the service. */
async function answer(query: object, bounds: object) {
  const ctx = readingAt(service, service.sql, story.organizationId, '2026-04-20T00:00:00Z');
  const asked = MarginQuery.parse({ from: '2026-03-01', to: '2026-03-31', ...query });
  try {
    await showMargins(ctx, { query: asked }, { dayRows: 2_000_000, fees: 200_000, ...bounds });
    return 'a report';
  } catch (error) {
    if (error instanceof Refusal) return error.body;
    throw error;
  }
}
const refused = (to: string | null) => ({
  status: 422,
  error: 'Unprocessable Entity',
  code: 'validation_errors',
  error_details: { base: ['value_is_out_of_range'] },
  span: to === null ? null : { from: '2026-03-01', to },
});

async function bill(charge: object = {}) {
  const { svc_id } = await story.metric('ai_usage', { aggregation_type: 'sum_agg', field_name: 'calls' });
  const charges = [{ billable_metric_id: svc_id, charge_model: 'standard', properties: { amount: '1' }, ...charge }];
  await story.plan({ amount_cents: 100, charges });
  await ok(story.subscribe());
  const price = { provider: 'openai', model: 'alpha', kind: 'input', cost: '1', valid_from: '2026-01-01T00:00:00Z' };
  await ok(story.client.post('/price_book/entries', { entries: [price] }));
}

describe('a span with more than a report reads', () => {
  test('is refused with the days whose sums fit, and these can be read', async () => {
    await send(call(2), call(2, 'beta'), call(5), call(5, 'beta'), call(9));
    expect(await answer({}, { dayRows: 5 })).toBe('a report');
    expect(await answer({}, { dayRows: 4 })).toEqual(refused('2026-03-08'));
    expect(await answer({ to: '2026-03-08' }, { dayRows: 4 })).toBe('a report');
    expect(await answer({}, { dayRows: 3 })).toEqual(refused('2026-03-04'));
    expect(await answer({}, { dayRows: 1 })).toEqual(refused('2026-03-01'));
    expect(await answer({ from: '2026-03-02' }, { dayRows: 1 })).toEqual(refused(null));
  });

  test('is refused by what was billed with the days whose fees fit', async () => {
    await bill({ pay_in_advance: true });
    for (const day of [3, 6, 8]) {
      await story.advanceTo(`2026-03-0${day}T10:00:00Z`);
      const ai_usage = {
        transaction_id: `${day}`,
        external_subscription_id: 'sub',
        provider: 'openai',
        model: 'alpha',
      };
      await ok(story.client.post('/ai/usage', { ai_usage: { ...ai_usage, parts: { input: 1 } } }));
    }
    await story.invoices(3);
    await finishAll(service.sql, story.organizationId);
    await sumAiDays.sweep({ sql: service.sql } as never, undefined as never);
    const basis = 'billed';
    expect(await answer({ basis }, { fees: 3 })).toBe('a report');
    expect(await answer({ basis }, { fees: 2 })).toEqual(refused('2026-03-07'));
    expect(await answer({ basis, to: '2026-03-07' }, { fees: 2 })).toBe('a report');
    expect(await answer({ basis, from: '2026-03-03' }, { fees: 0 })).toEqual(refused(null));
    // The fee of an hour reaches no day beyond its own.
    expect(await answer({ basis }, { dayRows: 2 })).toEqual(refused('2026-03-07'));
    expect(await answer({ basis, to: '2026-03-07' }, { dayRows: 2 })).toBe('a report');
    await story.advanceTo('2026-04-02T00:00:00Z');
    await story.invoices(4);
    const all = { basis, include_all_fees: 'true', to: '2026-04-02' };
    expect(await answer(all, { fees: 3 })).toBe('a report');
    expect(await answer({ ...all, from: '2026-04-01' }, { fees: 0 })).toEqual({
      ...refused(null),
    });
  });
});
