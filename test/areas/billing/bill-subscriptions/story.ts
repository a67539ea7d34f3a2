import type { Client } from '../../../support/client.ts';
import type { TestService } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';

const ADVANCE_WITHIN_MS = 60_000;

/** A sandbox organization at a frozen instant, and what tests of billing do with it. */
export interface Story {
  client: Client;
  organizationId: string;
  /** Lets time pass, and everything that falls due happen. */
  advance(to: string): Promise<void>;
  customer(fields?: object): Promise<void>;
  plan(fields: object): Promise<void>;
  subscribe(fields?: object): Promise<{ status: number; body: { subscription: Record<string, unknown> } }>;
  /** Invoices oldest first, with their parts, once there are `count`. */
  invoices(count: number, customer?: string): Promise<Invoice[]>;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
export type Invoice = any;

export async function openStory(service: TestService, now: string): Promise<Story> {
  const client = await service.org({ sandbox: true });
  const made = await client.post('/test_clock', { test_clock: { frozen_time: now } });
  if (made.status !== 200) throw new Error(`no test clock: ${made.text}`);
  const ok = async (answer: ReturnType<Client['post']>) => {
    const { status, text } = await answer;
    if (status !== 200) throw new Error(text);
  };
  return {
    client,
    organizationId: client.organization.organization_id,
    async advance(to) {
      await ok(client.post('/test_clock/advance', { test_clock: { frozen_time: to } }));
      const clock = await until(async () => {
        const { test_clock } = (await client.get('/test_clock')).body;
        return test_clock.status === 'advancing' ? undefined : test_clock;
      }, ADVANCE_WITHIN_MS);
      if (clock.status !== 'ready') throw new Error(JSON.stringify(clock.error));
    },
    customer: (fields = {}) =>
      ok(client.post('/customers', { customer: { external_id: 'acme', currency: 'USD', ...fields } })),
    plan: (fields) =>
      ok(
        client.post('/plans', {
          plan: {
            name: 'Plan',
            code: 'plan',
            interval: 'monthly',
            amount_currency: 'USD',
            pay_in_advance: false,
            ...fields,
          },
        }),
      ),
    subscribe: (fields = {}) =>
      client.post('/subscriptions', {
        subscription: { external_customer_id: 'acme', external_id: 'sub', plan_code: 'plan', ...fields },
      }),
    async invoices(count, customer = 'acme') {
      const list = await until(async () => {
        const { body } = await client.get(`/customers/${customer}/invoices?per_page=100`);
        return body.invoices?.length === count ? body.invoices : undefined;
      });
      const whole = await Promise.all(
        list.map(async ({ svc_id }: { svc_id: string }) => (await client.get(`/invoices/${svc_id}`)).body.invoice),
      );
      return whole.reverse();
    },
  };
}

/** The windows of an invoice with one line. */
export const periodOf = (invoice: Invoice): Record<string, string> => invoice.billing_periods[0];
