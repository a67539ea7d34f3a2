import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';
import { openStory } from '../../support/story.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** Three one-off invoices whose counters stand at what is given when the first of them is numbered. */
async function numbersAfter(last: number, numbering: 'per_customer' | 'per_billing_entity'): Promise<string[]> {
  const story = await openStory(service, '2023-10-09T12:00:00Z');
  const { client, organizationId } = story;
  await story.customer({ external_id: 'c' });
  await client.post('/add_ons', { add_on: { name: 'A', code: 'a', amount_cents: 100, amount_currency: 'USD' } });
  const [entity] = await service.sql<{ id: string }[]>`
    update billing_entities set document_number_prefix = 'BENT-11', document_numbering = ${numbering},
      invoices_sequence = ${last}
    where organization_id = ${organizationId} returning id`;
  await service.sql`
    insert into customer_invoice_sequences (organization_id, customer_id, billing_entity_id, last)
    select organization_id, id, ${entity!.id}, ${last} from customers where organization_id = ${organizationId}`;
  const numbers = [];
  for (let n = 0; n < 3; n += 1) {
    const invoice = { external_customer_id: 'c', currency: 'USD', fees: [{ add_on_code: 'a' }] };
    numbers.push((await client.post('/invoices', { invoice })).body.invoice.number);
  }
  return numbers;
}

test.each([
  [0, ['BENT-11-001-001', 'BENT-11-001-002', 'BENT-11-001-003']],
  [998, ['BENT-11-001-999', 'BENT-11-001-1000', 'BENT-11-001-1001']],
  [99_998, ['BENT-11-001-99999', 'BENT-11-001-100000', 'BENT-11-001-100001']],
])('after %i invoices of a customer the next numbers follow, and long ones are not cut', async (last, numbers) => {
  expect(await numbersAfter(last, 'per_customer')).toEqual(numbers);
});

test.each([
  [9, ['BENT-11-202310-010', 'BENT-11-202310-011', 'BENT-11-202310-012']],
  [998, ['BENT-11-202310-999', 'BENT-11-202310-1000', 'BENT-11-202310-1001']],
])('after %i documents of a billing entity the next numbers follow in its one series (G73)', async (last, numbers) => {
  expect(await numbersAfter(last, 'per_billing_entity')).toEqual(numbers);
});
