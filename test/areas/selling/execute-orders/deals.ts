import type { Client } from '../../../support/client.ts';
import type { TestService } from '../../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../../support/story.ts';
import { ok } from '../../../support/words.ts';

/** Shown records of every shape. */
export type Shown = Invoice;

/** A sandbox with a catalog, and the steps from a quote to its order. */
export interface Deals extends Story {
  addOn: Shown;
  planShown: Shown;
  /** Makes a quote and answers its first version. */
  quote(fields: object): Promise<Shown>;
  ok(answer: ReturnType<Client['post']>): Promise<Shown>;
  /** Approves a version; answers its order form. */
  approve(version: Shown, body?: object): Promise<Shown>;
  /** Signs a form; answers its order. */
  sign(form: Shown, body?: object): Promise<Shown>;
  /** The order of a deal, ready to be executed. */
  order(fields: object, signature?: object): Promise<Shown>;
}

export async function openDeals(service: TestService, now = '2026-03-10T12:00:00Z'): Promise<Deals> {
  const story = await openStory(service, now);
  const { client } = story;
  await story.customer();
  const { add_on: addOn } = await ok(
    client.post('/add_ons', {
      add_on: { name: 'Setup', code: 'setup', amount_cents: 1000, amount_currency: 'USD' },
    }),
  );
  await story.plan({ amount_cents: 3100, code: 'basic', pay_in_advance: true });
  const { plan: planShown } = await ok(client.get('/plans/basic'));
  const deals: Deals = {
    ...story,
    addOn,
    planShown,
    ok,
    async quote(fields) {
      const { quote } = await ok(client.post('/quotes', { quote: { external_customer_id: 'acme', ...fields } }));
      return quote.current_version;
    },
    async approve(version, body) {
      await ok(client.post(`/quote_versions/${version.svc_id}/approve`, body));
      const { order_forms: forms } = await ok(client.get('/order_forms?status[]=generated'));
      return forms.find((form: Shown) => form.svc_quote_version_id === version.svc_id);
    },
    async sign(form, body) {
      await ok(client.post(`/order_forms/${form.svc_id}/mark_as_signed`, body));
      const { orders } = await ok(client.get(`/orders?order_form_number[]=${form.number}`));
      return orders[0];
    },
    async order(fields, signature) {
      return deals.sign(await deals.approve(await deals.quote(fields)), signature);
    },
  };
  return deals;
}

export const addOnItem = (addOn: Shown, payload: object = {}, rest: object = {}) => ({
  id: addOn.svc_id,
  localId: 'setup-1',
  type: 'add_on',
  payload: { code: addOn.code, units: 2, unitAmountCents: 1500, totalAmountCents: 3000, ...payload },
  ...rest,
});

export const planItem = (plan: Shown, payload: object = {}, rest: object = {}) => ({
  id: plan.svc_id,
  localId: 'main',
  type: 'plan',
  payload: { code: plan.code, ...payload },
  ...rest,
});

export const walletItem = (payload: object = {}) => ({
  localId: 'wallet-1',
  type: 'wallet_credit',
  payload: { paidCredits: '0', grantedCredits: '50', rateAmount: '1', name: 'Welcome', ...payload },
});
