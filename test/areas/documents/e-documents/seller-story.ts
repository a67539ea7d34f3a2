import { expect } from 'vitest';
import type { TestService } from '../../../support/service.ts';
import { type Invoice, openStory } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';
import { ok } from '../../../support/words.ts';

/** A German seller at 19 % with one add-on of 100.00 an hour, and the words in which tests speak of its documents. */
export async function openSeller(service: TestService, now: string) {
  const story = await openStory(service, now);
  const { client } = story;
  await ok(
    client.put('/organizations', {
      organization: {
        country: 'DE',
        tax_identification_number: 'DE123456789',
        address_line1: 'Hauptstr. 1',
        city: 'Berlin',
        zipcode: '10115',
        legal_name: 'Muster GmbH',
        email: 'billing@muster.example',
      },
    }),
  );
  await story.tax(19, { code: 'ust', name: 'USt' });
  await story.addOn('hour', 10_000, { amount_currency: 'EUR', unit_code: 'HUR' });
  const { billing_entities } = await ok(client.get('/billing_entities'));
  const documents = async (query: string): Promise<Invoice[]> =>
    (await ok(client.get(`/e_documents?${query}`))).e_documents;
  return {
    ...story,
    entityCode: billing_entities[0].code as string,
    entity: (fields: object) =>
      ok(client.put(`/billing_entities/${billing_entities[0].code}`, { billing_entity: fields })),
    /** A French company, unless the fields say otherwise. */
    buyer: (external_id: string, fields: object = {}) =>
      story.customer({
        external_id,
        currency: 'EUR',
        legal_name: 'Client SA',
        country: 'FR',
        city: 'Paris',
        zipcode: '75001',
        legal_number: '73282932000074',
        tax_identification_number: 'FR44732829320',
        email: `${external_id}@client.example`,
        ...fields,
      }),
    hours: async (external_customer_id: string, units = 2, fields: object = {}): Promise<Invoice> => {
      const invoice = { external_customer_id, currency: 'EUR', fees: [{ add_on_code: 'hour', units }], ...fields };
      return (await ok(client.post('/invoices', { invoice }))).invoice;
    },
    documents,
    /** The first document of a customer in a state, as soon as there is one. */
    document: (customer: string, status: string): Promise<Invoice> =>
      until(async () => (await documents(`external_customer_id=${customer}&statuses[]=${status}`))[0]),
    async fileAt(url: string): Promise<{ type: string | null; bytes: Buffer }> {
      const { pathname, search } = new URL(url);
      const answer = await fetch(`${service.url}${pathname}${search}`);
      expect(answer.status).toBe(200);
      return { type: answer.headers.get('content-type'), bytes: Buffer.from(await answer.arrayBuffer()) };
    },
  };
}

export type SellerStory = Awaited<ReturnType<typeof openSeller>>;
