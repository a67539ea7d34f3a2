import { expect } from 'vitest';
import { newId } from '../../../src/platform/ids.ts';
import {
  connectStripe,
  idAtStripe,
  linkCustomer,
  type Organization,
  storeMethod,
  tell,
} from '../../support/connect-stripe.ts';
import type { FakeStripe } from '../../support/fakes/stripe.ts';
import type { TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
type Loose = any;

interface World {
  service: TestService;
  stripe: FakeStripe;
  /** The organization of the test that runs. */
  client: Organization;
}

/** What tests do at an account at Stripe and here, to compare both: invoices, payments, runs and drifts. */
export function accountAtStripe(of: () => World) {
  const organizationId = () => of().client.organization.organization_id;

  /** An account at Stripe is connected, and a customer of it. */
  async function connect(): Promise<void> {
    for (const kept of [of().stripe.intents, of().stripe.refunds, of().stripe.disputes]) kept.length = 0;
    await connectStripe(of().service, of().client);
    await linkCustomer(of().client, { currency: 'USD' });
    await ok(
      of().client.post('/add_ons', {
        add_on: { name: 'Setup', code: 'setup', amount_cents: 1200, amount_currency: 'USD' },
      }),
    );
  }

  const tellOf = async (type: string, object: object) =>
    expect(await tell(of().service, of().stripe.event(type, object))).toBe(200);

  /** The customer has stored a method, which Stripe holds too. */
  async function store(method: string): Promise<string> {
    const id = await idAtStripe(of().client);
    const card = { id: method, type: 'card', card: { brand: 'visa', last4: '4242', exp_year: 2030, exp_month: 1 } };
    of().stripe.customers.set(id, { fields: {}, methods: [card] });
    await storeMethod(of(), method);
    await until(async () => {
      const [known] = await of().service.sql`
        select from customers where organization_id = ${organizationId()} and methods_owed_at is null`;
      return known;
    });
    return id;
  }

  const bill = async (cents = 1200): Promise<Loose> =>
    (
      await ok(
        of().client.post('/invoices', {
          invoice: {
            external_customer_id: 'acme',
            currency: 'USD',
            fees: [{ add_on_code: 'setup', unit_amount_cents: cents, units: 1 }],
          },
        }),
      )
    ).invoice;
  const read = async (made: Loose): Promise<Loose> => (await ok(of().client.get(`/invoices/${made.svc_id}`))).invoice;
  const paid = (made: Loose, status = 'succeeded'): Promise<Loose> =>
    until(async () => {
      const { payments } = await ok(of().client.get(`/payments?invoice_id=${made.svc_id}`));
      return payments.find((each: Loose) => each.payment_status === status);
    }, 60_000);

  /** A run that has ended. */
  async function reconcile(body?: object): Promise<Loose> {
    const { provider_reconciliation: asked } = await ok(
      of().client.post('/provider_reconciliations', body && { provider_reconciliation: body }),
    );
    return until(async () => {
      const { provider_reconciliation: run } = await ok(of().client.get(`/provider_reconciliations/${asked.svc_id}`));
      return run.finished_at === null ? undefined : run;
    }, 60_000);
  }
  const drifts = async (filter = ''): Promise<Loose[]> =>
    (await ok(of().client.get(`/provider_drifts${filter}`))).provider_drifts;
  const repair = (drift: Loose, action: string, note?: string) =>
    of().client.post(`/provider_drifts/${drift.svc_id}/repair`, { drift: { action, ...(note ? { note } : {}) } });

  /** The sum of an account, as debit. */
  async function balance(account: string): Promise<number> {
    const [row] = await of().service.sql<{ sum: number }[]>`
      select coalesce(sum(case side when 'debit' then amount_cents else -amount_cents end), 0)::int as sum
      from ledger_entries where organization_id = ${organizationId()} and account_code = ${account}`;
    return row!.sum;
  }
  const rules = async (): Promise<string[]> =>
    (
      await of().service.sql<{ rule: string }[]>`
        select rule from ledger_transactions where organization_id = ${organizationId()} order by id`
    ).map(({ rule }) => rule);

  /** The last change of all payments and refunds was so long ago that an event about it is lost. */
  async function hoursPass(): Promise<void> {
    for (const table of ['payments', 'credit_note_refunds'])
      await of().service.sql`
        update ${of().service.sql(table)} set updated_at = updated_at - interval '2 hours',
          created_at = created_at - interval '2 hours'
        where organization_id = ${organizationId()}`;
  }

  /** A payment there for something of ours, of which no event came. */
  function intentThere(made: Loose, fields: object = {}): Loose {
    const intent = {
      id: `pi_there_${newId()}`,
      object: 'payment_intent',
      amount: 1200,
      amount_received: 1200,
      currency: 'usd',
      status: 'succeeded',
      metadata: { payable_type: 'Invoice', payable_id: made.svc_id },
      last_payment_error: null,
      next_action: null,
      ...fields,
    };
    of().stripe.intents.push(intent);
    return intent;
  }

  return {
    connect,
    tell: tellOf,
    store,
    bill,
    read,
    paid,
    reconcile,
    drifts,
    repair,
    balance,
    rules,
    hoursPass,
    intentThere,
  };
}
