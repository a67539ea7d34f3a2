import { request } from 'undici';
import type { Client } from './client.ts';
import { FAKE_KEY, type FakeStripe } from './fakes/stripe.ts';
import type { TestService } from './service.ts';
import { until } from './until.ts';
import { ok } from './words.ts';

export type Organization = Client & { organization: { organization_id: string } };

/** How customers name the connection that `connectStripe` makes. */
const AT_STRIPE = { payment_provider: 'stripe', payment_provider_code: 'main', sync_with_provider: true };

/** Connects an organization to the double of Stripe; its endpoint is the one that the double signs for from now on. */
export async function connectStripe({ sql }: Pick<TestService, 'sql'>, client: Organization): Promise<void> {
  await ok(
    client.post('/payment_providers', {
      payment_provider: { type: 'stripe', code: 'main', name: 'Main', secret_key: FAKE_KEY },
    }),
  );
  await until(async () => {
    const [registered] = await sql`
      select from payment_providers
      where organization_id = ${client.organization.organization_id} and inbound_owed_at is null
        and inbound_endpoint_id is not null`;
    return registered;
  });
}

/** Makes a customer whom the double knows, and answers its id there. `billing`: of its billing configuration. */
export async function linkCustomer(client: Client, fields: object = {}, billing: object = {}): Promise<string> {
  const customer = { external_id: 'acme', billing_configuration: { ...AT_STRIPE, ...billing }, ...fields };
  await ok(client.post('/customers', { customer }));
  return idAtStripe(client, customer.external_id);
}

/** The id of a customer at the double, once it is known there. */
export const idAtStripe = (client: Client, externalId = 'acme'): Promise<string> =>
  until(async () => {
    const { customer } = await ok(client.get(`/customers/${externalId}`));
    return customer.billing_configuration.provider_customer_id as string | undefined;
  });

/** Sends an event that the double has signed, and answers the status. */
export async function tell(
  { url }: Pick<TestService, 'url'>,
  { body, signature, path }: ReturnType<FakeStripe['event']>,
): Promise<number> {
  const headers = { 'stripe-signature': signature, 'content-type': 'application/json' };
  const answer = await request(`${url}${path}`, { method: 'POST', headers, body });
  await answer.body.dump();
  return answer.statusCode;
}

/** A customer stores a method on a page of the double, and it is known here. */
export async function storeMethod(
  { service, stripe, client }: { service: Pick<TestService, 'url'>; stripe: FakeStripe; client: Client },
  method: string,
  externalId = 'acme',
): Promise<void> {
  const customer = await idAtStripe(client, externalId);
  const setup = { id: `seti_${method}_${customer}`, customer, payment_method: method, payment_method_types: ['card'] };
  const status = await tell(service, stripe.event('setup_intent.succeeded', setup));
  if (status !== 200) throw new Error(`the event of a stored method was answered with ${status}`);
  await until(async () => {
    const { payment_methods } = await ok(client.get(`/customers/${externalId}/payment_methods`));
    return payment_methods[0];
  });
}
