import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inLongRun } from '../../../support/long-run.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';
import { ok, type Shown } from '../../../support/words.ts';

// Usage of March that is billed progressively, corrected, comes late, and whose invoices are voided and made anew, in
// any order: what the customer owes is the price of the usage, 1.00 a unit and 10 % tax:
// progressive-billing.md#made-anew.
let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

// The same lives each time; others by RUNS and SEED.
const { RUNS = String(inLongRun(4, 2)), SEED = '20240301' } = process.env;
/** How long one life may take on a busy machine. */
const LIFE_MS = 60_000;
const TEAMS = ['red', 'blue'] as const;
const THRESHOLDS = [1000, 2000, 3000, 4000].map((amount_cents) => ({ amount_cents }));

type Deed =
  | { kind: 'use'; n: number; team: number }
  | { kind: 'amend'; which: number; n: number; team: number }
  | { kind: 'retract'; which: number }
  | { kind: 'renew'; which: number }
  | { kind: 'look' };

const team = fc.nat({ max: 1 });
const n = fc.integer({ min: 1, max: 14 });
const which = fc.nat({ max: 9 });
const deed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('use' as const), n, team }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('amend' as const), which, n, team }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('retract' as const), which }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('renew' as const), which }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('look' as const) }) },
);

/** A sandbox in March with a charge by team, whose late usage is billed at once. */
async function march(): Promise<Story> {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  await ok(story.client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: 10, applied_to_organization: true } }));
  await story.customer();
  const metric = await story.metric('units', { aggregation_type: 'sum_agg', field_name: 'n' });
  const charge = { billable_metric_id: metric.svc_id, code: 'units', charge_model: 'standard' };
  await story.plan({
    amount_cents: 0,
    usage_policies: { late_events: 'debit_invoice' },
    usage_thresholds: THRESHOLDS,
    charges: [{ ...charge, properties: { amount: '1', pricing_group_keys: ['team'] } }],
  });
  await story.subscribe();
  return story;
}

/** A life of March, deed by deed, some before its end and some after it. */
class Life {
  readonly events: { id: string; n: number; team: number; retracted: boolean }[] = [];
  private now = Temporal.Instant.from('2024-03-10T00:00:00Z');
  private isOver = false;
  private readonly story: Story;

  constructor(story: Story) {
    this.story = story;
  }

  async until(at: Temporal.Instant): Promise<void> {
    this.now = at;
    await this.story.advanceTo(`${at}`);
  }

  async end(): Promise<void> {
    this.isOver = true;
    await this.until(Temporal.Instant.from('2024-04-02T00:10:00Z'));
  }

  async look(): Promise<void> {
    await this.until(this.now.add({ hours: 1, minutes: this.isOver ? 0 : 15 }));
  }

  async do(each: Deed): Promise<void> {
    const live = this.events.filter(({ retracted }) => !retracted);
    const event = 'which' in each && each.kind !== 'renew' ? live[each.which % Math.max(live.length, 1)] : undefined;
    if (each.kind === 'look') return this.look();
    if (each.kind === 'use') {
      const id = `event-${this.events.length}`;
      this.events.push({ id, n: each.n, team: each.team, retracted: false });
      const at = this.isOver ? { at: '2024-03-20T00:00:00Z' } : {};
      await this.story.use('units', { n: `${each.n}`, team: TEAMS[each.team] }, { transaction_id: id, ...at });
      return;
    }
    if (each.kind === 'renew') return this.renew(each.which);
    if (event === undefined) return;
    if (each.kind === 'retract') {
      event.retracted = true;
      return this.correct({ kind: 'retract', transaction_id: event.id });
    }
    if (event.n === each.n && event.team === each.team) return;
    Object.assign(event, { n: each.n, team: each.team });
    const properties = { n: `${each.n}`, team: TEAMS[each.team] };
    return this.correct({ kind: 'amend', transaction_id: event.id, properties });
  }

  private async correct(fields: object): Promise<void> {
    const { client } = this.story;
    const { correction } = await ok(
      client.post('/events/corrections', {
        correction: { reason: 'wrong', external_subscription_id: 'sub', policy: 'debit_invoice', ...fields },
      }),
    );
    await until(async () => {
      const { correction: found } = await ok(client.get(`/events/corrections/${correction.svc_id}`));
      expect(found.status).not.toBe('failed');
      return found.status === 'settled' ? found : undefined;
    });
  }

  /** Voids an invoice that stands and regenerates it as it was. */
  private async renew(place: number): Promise<void> {
    const { client } = this.story;
    const { invoices } = await ok(client.get('/invoices?per_page=100&statuses[]=finalized'));
    if (invoices.length === 0) return;
    const source = await this.story.invoice(invoices[place % invoices.length].svc_id);
    if (source.fees.length === 0) return;
    const voided = await client.post(`/invoices/${source.svc_id}/void`);
    if (voided.status !== 200) return;
    const fees = source.fees.map((fee: Shown) => ({ id: fee.svc_id }));
    await ok(client.post(`/invoices/${source.svc_id}/regenerate`, { invoice: { fees } }));
  }

  /** What is owed, less what notes still hold. */
  async owed(): Promise<number> {
    const { client } = this.story;
    const { invoices } = await ok(client.get('/invoices?per_page=100&statuses[]=finalized'));
    const { credit_notes } = await ok(client.get('/credit_notes?per_page=100'));
    return (
      invoices.reduce((sum: number, each: Invoice) => sum + each.total_due_amount_cents, 0) -
      credit_notes.reduce((sum: number, each: Shown) => sum + each.balance_amount_cents, 0)
    );
  }

  price(): number {
    return this.events.reduce((sum, each) => sum + (each.retracted ? 0 : 110 * each.n), 0);
  }
}

test('what is owed of usage billed progressively is its price', { timeout: Number(RUNS) * LIFE_MS }, async () => {
  const life = fc.tuple(fc.array(deed, { minLength: 2, maxLength: 6 }), fc.array(deed, { minLength: 2, maxLength: 6 }));
  await fc.assert(
    fc.asyncProperty(life, async ([before, after]) => {
      const lived = new Life(await march());
      await lived.until(Temporal.Instant.from('2024-03-10T00:00:00Z'));
      for (const each of before) await lived.do(each);
      await lived.end();
      expect([await lived.owed(), 'at the end of the month']).toEqual([lived.price(), 'at the end of the month']);
      for (const each of after) await lived.do(each);
      await lived.look();
      await lived.look();
      expect(await lived.owed()).toBe(lived.price());
    }),
    { seed: Number(SEED), numRuns: Number(RUNS), endOnFailure: true },
  );
});
