import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Client, ClientAnswer } from './client.ts';

/** A record as the interface shows it. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
export type Shown = any;

/** The body of an answer that must be a 200; else its text says why it is none. */
export async function ok(answer: Promise<Pick<ClientAnswer, 'status' | 'text' | 'body'>>): Promise<Shown> {
  const { status, text, body } = await answer;
  expect(status, text).toBe(200);
  return body;
}

/** Fields of an event beside its code and properties. */
interface EventFields {
  /** When it happened; without it, now. */
  at?: string;
  /** External id of its subscription. */
  by?: string;
  transaction_id?: string;
}

/**
 * The words in which tests speak of the domain: each is one request, which must be answered with 200. What a test does
 * not say is as plain as may be: customer `acme`, subscription `sub` of plan `plan`, in US dollars, monthly, in
 * arrears.
 */
export function wordsOf(client: Client) {
  const made = async (path: string, root: string, fields: object): Promise<Shown> =>
    (await ok(client.post(path, { [root]: fields })))[root];
  return {
    /** A metric that counts events, unless the fields say otherwise. */
    metric: (code: string, fields: object = {}) =>
      made('/billable_metrics', 'billable_metric', { name: code, code, aggregation_type: 'count_agg', ...fields }),
    tax: (rate: number, fields: object = {}) =>
      made('/taxes', 'tax', { name: 'VAT', code: 'vat', rate, applied_to_organization: true, ...fields }),
    addOn: (code: string, amount_cents: number, fields: object = {}) =>
      made('/add_ons', 'add_on', { name: code, code, amount_cents, amount_currency: 'USD', ...fields }),
    plan: (fields: object) =>
      made('/plans', 'plan', {
        name: 'Plan',
        code: 'plan',
        interval: 'monthly',
        amount_currency: 'USD',
        pay_in_advance: false,
        ...fields,
      }),
    customer: (fields: object = {}) =>
      made('/customers', 'customer', { external_id: 'acme', currency: 'USD', ...fields }),
    /** The whole answer: whether a subscription may begin is often the question. */
    subscribe: (fields: object = {}) =>
      client.post('/subscriptions', {
        subscription: { external_customer_id: 'acme', external_id: 'sub', plan_code: 'plan', ...fields },
      }),
    /** Sends an event of the subscription. */
    use: (code: string, properties: object = {}, { at, by = 'sub', ...fields }: EventFields = {}) =>
      made('/events', 'event', {
        transaction_id: randomUUID(),
        external_subscription_id: by,
        code,
        ...(at === undefined ? {} : { timestamp: Date.parse(at) / 1000 }),
        properties,
        ...fields,
      }),
    invoice: async (id: string): Promise<Shown> => (await ok(client.get(`/invoices/${id}`))).invoice,
    /** A one-off invoice of one add-on, which may be made again and again. */
    async oneOff(amount_cents: number, customer = 'acme'): Promise<Shown> {
      const code = `item${amount_cents}`;
      await client.post('/add_ons', {
        add_on: { name: `Item ${amount_cents}`, code, amount_cents, amount_currency: 'USD' },
      });
      return made('/invoices', 'invoice', {
        external_customer_id: customer,
        currency: 'USD',
        fees: [{ add_on_code: code }],
      });
    },
    /** A payment of an invoice that came by another way. The whole answer, as an invoice may take none. */
    pay: (invoiceId: string, amount_cents: number) =>
      client.post('/payments', {
        payment: { invoice_id: invoiceId, amount_cents, reference: `paid ${amount_cents}` },
      }),
    /** Asks for a note of some of the only fee of an invoice. The whole answer. */
    credit: (invoice: Shown, amount_cents: number, parts: object = { credit_amount_cents: amount_cents }) =>
      client.post('/credit_notes', {
        credit_note: {
          invoice_id: invoice.svc_id,
          items: [{ fee_id: invoice.fees[0].svc_id, amount_cents }],
          ...parts,
        },
      }),
  };
}

export type Words = ReturnType<typeof wordsOf>;
