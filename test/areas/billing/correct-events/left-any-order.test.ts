import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inLongRun } from '../../../support/long-run.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';
import { ok, type Shown } from '../../../support/words.ts';

// event-corrections.md#what-is-left, event-corrections.md#corrections-that-wait: whatever the order of corrections,
// late usage, policies and regenerations, and however long invoices wait for their taxes meanwhile, what was billed
// less what was given back is what each difference came to by the policy that held for it, and none is billed twice.
let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const UNIT_CENTS = 1000;
const POLICIES = ['next_invoice', 'debit_invoice', 'credit_note', 'ignore'] as const;
type Policy = (typeof POLICIES)[number];
const BILLS: readonly Policy[] = ['next_invoice', 'debit_invoice'];
const MONTHS = ['03', '04'];

const TEAMS = ['red', 'blue', 'green'];

type Step =
  | { kind: 'send'; month: number; n: number; team: number }
  | { kind: 'amend'; nth: number; n: number; policy: Policy }
  | { kind: 'move'; nth: number; month: number; policy: Policy }
  | { kind: 'join'; nth: number; team: number; policy: Policy }
  | { kind: 'retract'; nth: number; policy: Policy }
  | { kind: 'range'; month: number; policy: Policy }
  | { kind: 'switch'; of: 'plan' | 'organization'; late: Policy | null }
  | { kind: 'look' }
  | { kind: 'issue' }
  | { kind: 'anew'; nth: number };

const month = fc.integer({ min: 0, max: 1 });
const n = fc.integer({ min: 1, max: 14 });
const nth = fc.nat({ max: 20 });
const policy = fc.constantFrom(...POLICIES);
const team = fc.nat({ max: TEAMS.length - 1 });
const send = fc.record({ kind: fc.constant('send' as const), month, n, team });
const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: send },
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('amend' as const), nth, n, policy }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('move' as const), nth, month, policy }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('join' as const), nth, team, policy }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('retract' as const), nth, policy }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('range' as const), month, policy }) },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('switch' as const),
        of: fc.constantFrom('plan' as const, 'organization' as const),
        late: fc.option(policy),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('look' as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('issue' as const) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('anew' as const), nth }) },
  ),
  { minLength: 6, maxLength: 16 },
);
const plays = fc.record({
  before: fc.array(send, { minLength: 1, maxLength: 4 }),
  after: steps,
  // Billed in steps before the month ends.
  hasThresholds: fc.boolean(),
  inAdvance: fc.boolean(),
  isGrouped: fc.boolean(),
  // The month from whose invoice on all wait for their taxes, until they are issued.
  waitsFrom: fc.option(month),
  // In which order corrections come back to the invoices then.
  shuffle: fc.nat({ max: 1000 }),
});
type Play = typeof plays extends fc.Arbitrary<infer Value> ? Value : never;

/** What corrections did about an event in a month, as long as it stands. */
interface Layer {
  isLeft: boolean;
  units: number;
}
interface Place {
  month: number;
  team: number;
}
interface Event extends Place {
  id: string;
  units: number;
  /** By the month of the invoice and the team. */
  layers: Map<string, Layer[]>;
  /** Whether it is in the books: an event that came late is, once it was looked at and not ignored. */
  isIn: boolean;
  cameUnder: Policy;
}

/** The books by hand: units billed less units given back. */
class Books {
  units = 0;
  events: Event[] = [];
  ofPlan: Policy | null = null;
  ofOrganization: Policy | null = null;
  readonly inAdvance: boolean;
  private readonly isGrouped: boolean;

  constructor({ inAdvance, isGrouped }: Pick<Play, 'inAdvance' | 'isGrouped'>) {
    this.inAdvance = inAdvance;
    this.isGrouped = isGrouped;
  }

  /** An event billed in advance has one fee, wherever it is moved. */
  private invoiceOf(month: number): number {
    return this.inAdvance ? 0 : month;
  }

  private layersOf(event: Event, { month, team }: Place): Layer[] {
    const place = `${this.invoiceOf(month)} ${this.isGrouped ? team : ''}`;
    const layers = event.layers.get(place) ?? [];
    event.layers.set(place, layers);
    return layers;
  }

  /** Settles changes on one invoice: each undoes what was left there, and the rests are netted. */
  private decide(event: Event, changes: readonly (Place & { units: number })[], by: Policy): void {
    const parts = changes.map((change) => {
      const layers = this.layersOf(event, change);
      let open = change.units;
      let undone = 0;
      for (const layer of [...layers].reverse()) {
        if (Math.sign(layer.units) !== -Math.sign(open)) continue;
        const taken = Math.sign(open) * Math.min(Math.abs(open), Math.abs(layer.units));
        open -= taken;
        if (layer.isLeft) undone += taken;
      }
      return { layers, undone, rest: change.units - undone };
    });
    const total = parts.reduce((sum, { rest }) => sum + rest, 0);
    const isLeft = by === 'ignore' || (total > 0 && !BILLS.includes(by));
    if (!isLeft) this.units += total;
    for (const { layers, undone, rest } of parts) {
      // At most two changes: one that prevails is netted against the other.
      const booked = Math.sign(rest) === Math.sign(total) ? total : 0;
      const open = Math.abs(booked) > Math.abs(rest) ? rest : booked;
      this.stack(layers, { isLeft: true, units: undone });
      this.stack(layers, { isLeft: false, units: rest - open });
      this.stack(layers, { isLeft, units: open });
    }
  }

  private stack(layers: Layer[], added: Layer): void {
    if (added.units === 0) return;
    let { units } = added;
    for (const layer of [...layers].reverse()) {
      if (layer.isLeft !== added.isLeft || Math.sign(layer.units) === Math.sign(units)) continue;
      const taken = Math.sign(units) * Math.min(Math.abs(units), Math.abs(layer.units));
      layer.units += taken;
      units -= taken;
    }
    if (units !== 0) layers.push({ isLeft: added.isLeft, units });
  }

  send(id: string, { month: at, n: units, team }: { month: number; n: number; team: number }, isLate: boolean): void {
    const cameUnder = this.ofPlan ?? this.ofOrganization ?? 'ignore';
    const isIn = !isLate || this.inAdvance;
    this.events.push({ id, month: at, team, units, layers: new Map(), isIn, cameUnder });
    if (isIn) this.units += units;
  }

  look(): void {
    for (const event of this.events) this.lookAt(event);
  }

  /** A correction looks at its own events first. */
  private lookAt(event: Event): void {
    if (event.isIn || event.cameUnder === 'ignore') return;
    event.isIn = true;
    this.decide(event, [event], event.cameUnder);
  }

  change(event: Event, to: Place & { units: number }, by: Policy): void {
    this.lookAt(event);
    const out = { month: event.month, team: event.team, units: event.isIn ? -event.units : 0 };
    const isSameInvoice = this.invoiceOf(to.month) === this.invoiceOf(event.month);
    if (isSameInvoice && (to.team === event.team || !this.isGrouped))
      this.decide(event, [{ ...to, units: to.units + out.units }], by);
    else if (isSameInvoice) this.decide(event, [out, to], by);
    else {
      this.decide(event, [out], by);
      this.decide(event, [to], by);
    }
    Object.assign(event, to, { isIn: true });
  }

  retract(event: Event, by: Policy): void {
    this.lookAt(event);
    if (event.isIn) this.decide(event, [{ ...event, units: -event.units }], by);
    this.events = this.events.filter((each) => each !== event);
  }
}

async function open({ hasThresholds, inAdvance, isGrouped, waitsFrom }: Play): Promise<Story> {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  const waits = waitsFrom !== null;
  const engine = { type: 'anrok', code: 'engine', name: 'Engine', api_key: 'sandbox' };
  if (waits) await ok(story.client.post('/integrations', { integration: engine }));
  const synced = { integration_type: 'anrok', integration_code: 'engine', sync_with_provider: true };
  const abroad = { country: 'US', state: 'CO', address_line1: '1 good street', integration_customers: [synced] };
  await story.customer(waits ? abroad : {});
  const metric = await story.metric('units', { aggregation_type: 'sum_agg', field_name: 'n' });
  await story.plan({
    amount_cents: 0,
    ...(hasThresholds && !inAdvance && !waits
      ? { usage_thresholds: [{ amount_cents: 5000 }, { amount_cents: 12_000 }] }
      : {}),
    charges: [
      {
        billable_metric_id: metric.svc_id,
        code: 'units',
        charge_model: 'standard',
        pay_in_advance: inAdvance,
        properties: { amount: '10', ...(isGrouped ? { pricing_group_keys: ['team'] } : {}) },
      },
    ],
  });
  await story.subscribe();
  await story.advanceTo('2024-03-20T00:00:00Z');
  return story;
}

/** The tax engine refuses the address, so that invoices wait from now on. */
const hold = (story: Story) => story.customer({ address_line1: '1 fail street' });

/** The invoices that wait are issued, and what waited for them comes back in another order. */
async function issue(story: Story, shuffle: number): Promise<void> {
  await story.customer({ address_line1: '1 good street' });
  await until(async () => {
    const { meta } = await ok(story.client.get('/invoices?statuses[]=failed&statuses[]=pending'));
    return meta.total_count === 0 ? true : undefined;
  });
  await service.sql`
    update after_steps set due_at = due_at - make_interval(secs => abs(hashtext(id::text || ${`${shuffle}`})) % 3000)
    where organization_id = ${story.organizationId} and job = 'settle-correction' and due_at is not null`;
}

async function perform(
  story: Story,
  books: Books,
  { step, at, own }: { step: Step; at: number; own: Play },
): Promise<void> {
  const { client } = story;
  const instantOf = (which: number) => `2024-${MONTHS[which]}-15T00:00:00Z`;
  const correct = (fields: object) =>
    client.post('/events/corrections', {
      correction: { reason: 'any order', external_subscription_id: 'sub', ...fields },
    });
  if (step.kind === 'send') {
    const properties = { n: `${step.n}`, team: TEAMS[step.team] };
    await story.use('units', properties, { transaction_id: `t${at}`, at: instantOf(step.month) });
    // What is corrected before it is billed is billed as it is then.
    if (books.inAdvance)
      await until(async () => {
        const { fees } = (await client.get(`/fees?event_transaction_id=t${at}`)).body;
        return fees.length > 0 ? fees : undefined;
      });
    books.send(`t${at}`, step, true);
  } else if (step.kind === 'look') {
    await story.advanceTo(new Date(Date.parse('2024-05-02T00:00:00Z') + at * 7_200_000).toISOString());
    books.look();
  } else if (step.kind === 'switch') {
    const usage_policies = { late_events: step.late };
    if (step.of === 'plan') await ok(client.put('/plans/plan', { plan: { usage_policies } }));
    else await ok(client.put('/organizations/settings', { settings: { usage_policies } }));
    if (step.of === 'plan') books.ofPlan = step.late;
    else books.ofOrganization = step.late;
  } else if (step.kind === 'range') {
    const days = { timestamp_from: `2024-${MONTHS[step.month]}-01`, timestamp_to: `2024-${MONTHS[step.month]}-16` };
    const made = (await ok(correct({ kind: 'retract_range', policy: step.policy, ...days }))).correction;
    await until(async () => {
      const { correction } = (await client.get(`/events/corrections/${made.svc_id}`)).body;
      const isApplied = own.waitsFrom !== null && correction.status === 'applied';
      return isApplied || correction.status === 'settled' ? correction : undefined;
    });
    for (const event of books.events.filter((each) => each.month === step.month)) books.retract(event, step.policy);
  } else if (step.kind === 'issue') {
    if (own.waitsFrom !== null) await issue(story, own.shuffle);
  } else if (step.kind === 'anew') {
    await regenerate(story, step.nth);
  } else if (books.events.length > 0) {
    const event = books.events[step.nth % books.events.length]!;
    const to = {
      month: step.kind === 'move' ? step.month : event.month,
      units: step.kind === 'amend' ? step.n : event.units,
    };
    const { status } = await correct({
      kind: step.kind === 'retract' ? 'retract' : 'amend',
      transaction_id: event.id,
      policy: step.policy,
      ...(step.kind === 'amend' ? { properties: { n: `${step.n}`, team: TEAMS[event.team] } } : {}),
      ...(step.kind === 'join' ? { properties: { n: `${event.units}`, team: TEAMS[step.team] } } : {}),
      ...(step.kind === 'move' ? { timestamp: Date.parse(instantOf(step.month)) / 1000 } : {}),
    });
    // An amendment that changes nothing is refused.
    if (status === 422) return;
    expect(status).toBe(200);
    if (step.kind === 'retract') books.retract(event, step.policy);
    else books.change(event, { ...to, team: step.kind === 'join' ? step.team : event.team }, step.policy);
  }
}

/** Voids an invoice that counts and regenerates it with all its fees: the same is billed. */
async function regenerate({ client, invoice }: Story, nth: number): Promise<void> {
  const { invoices } = await ok(client.get('/invoices?per_page=100&statuses[]=finalized'));
  const whole = await Promise.all(invoices.map(({ svc_id }: Shown) => invoice(svc_id)));
  const withFees = whole.filter(({ fees, invoice_type }) => fees.length > 0 && invoice_type === 'subscription');
  const source = withFees[nth % withFees.length];
  if (source === undefined) return;
  await ok(client.post(`/invoices/${source.svc_id}/void`));
  const fees = source.fees.map(({ svc_id }: Shown) => ({ id: svc_id }));
  await ok(client.post(`/invoices/${source.svc_id}/regenerate`, { invoice: { fees } }));
}

async function play(own: Play): Promise<void> {
  const story = await open(own);
  const books = new Books(own);
  let at = 0;
  for (const step of own.before) {
    at += 1;
    const instant = `2024-${MONTHS[step.month]}-15T00:00:00Z`;
    const properties = { n: `${step.n}`, team: TEAMS[step.team] };
    await story.use('units', properties, { transaction_id: `t${at}`, at: instant });
    books.send(`t${at}`, step, false);
  }
  if (own.waitsFrom === 0) await hold(story);
  await story.advanceTo('2024-04-20T00:00:00Z');
  if (own.waitsFrom === 1) await hold(story);
  await story.advanceTo('2024-05-02T00:00:00Z');
  for (const step of own.after) {
    at += 1;
    await perform(story, books, { step, at, own });
  }
  if (own.waitsFrom !== null) await issue(story, own.shuffle);
  await story.advanceTo('2024-05-20T00:00:00Z');
  await story.advanceTo('2024-06-02T00:00:00Z');
  books.look();

  const { invoices } = (await story.client.get('/invoices?per_page=100&statuses[]=finalized')).body;
  const { credit_notes } = (await story.client.get('/credit_notes?per_page=100')).body;
  const sum = (list: Shown[], key: string) => list.reduce((total: number, each) => total + each[key], 0);
  const billed = sum(invoices, 'fees_amount_cents') - sum(invoices, 'progressive_billing_credit_amount_cents');
  expect(billed - sum(credit_notes, 'sub_total_excluding_taxes_amount_cents')).toBe(books.units * UNIT_CENTS);
  const { corrections } = await ok(story.client.get('/events/corrections?per_page=100'));
  expect(corrections.filter(({ status }: Shown) => status !== 'settled')).toEqual([]);
  expect((await story.client.post('/audits', {})).status).toBe(200);
  await until(async () => (await story.client.get('/audits')).body.audits[0]?.finished_at ?? undefined);
  expect((await story.client.get('/audits/findings')).body.audit_findings).toEqual([]);
}

// The same plays each time; others by RUNS and SEED.
const { RUNS = String(inLongRun(3, 2)), SEED = '20240304' } = process.env;
/** One play on a machine that others load too. */
const PLAY_MS = 80_000;

test('each difference is settled once, by its own policy, in any order', {
  timeout: Number(RUNS) * PLAY_MS,
}, async () => {
  await fc.assert(fc.asyncProperty(plays, play), { numRuns: Number(RUNS), seed: Number(SEED), endOnFailure: true });
});
