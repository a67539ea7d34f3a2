import { expect } from 'vitest';
import { type ClientStory, firstOf } from './story.ts';

/** Quotes become order forms, and signed ones orders; they are written where the published client does not reach. */
export async function closeDeals(story: ClientStory): Promise<void> {
  const { api } = story;
  const dropped = await offer(story);
  const cloned = await offer(story);
  await api.quoteVersions.voidQuoteVersion(dropped);
  await api.quoteVersions.voidQuoteVersion(cloned);
  const again = await api.quoteVersions.cloneQuoteVersion(cloned);
  await api.quoteVersions.approveQuoteVersion(again.data.quote_version.lago_id);
  const voided = await firstOf(async () => (await api.orderForms.findAllOrderForms()).data.order_forms);
  await api.orderForms.voidOrderForm(voided.lago_id);

  const version = await offer(story);
  expect((await api.quoteVersions.findQuoteVersion(version)).data.quote_version.status).toBe('draft');
  await api.quoteVersions.approveQuoteVersion(version, { expires_at: '2024-12-31T00:00:00Z' });
  const form = await firstOf(async () => {
    const list = await api.orderForms.findAllOrderForms({ 'status[]': ['generated'] });
    return list.data.order_forms;
  });
  await api.orderForms.findOrderForm(form.lago_id);
  await api.orderForms.markOrderFormAsSigned(form.lago_id);
  const order = await firstOf(async () => (await api.orders.findAllOrders()).data.orders);
  await api.orders.findOrder(order.lago_id);
  const executed = await api.orders.executeOrder(order.lago_id, { order: { execution_mode: 'execute_in_lago' } });
  expect(executed.data.order.status).toBe('executed');
}

/** A quote of one chair. @returns the id of its first version */
async function offer({ api, post }: ClientStory): Promise<string> {
  const { data } = await api.addOns.findAddOn('seat');
  const { quote } = await post('/quotes', {
    quote: {
      external_customer_id: 'acme',
      order_type: 'one_off',
      currency: 'EUR',
      billing_items: {
        addOns: [
          {
            id: data.add_on.lago_id,
            localId: 'chair',
            type: 'add_on',
            payload: { code: 'seat', units: 1, unitAmountCents: 1000, totalAmountCents: 1000 },
          },
        ],
      },
    },
  });
  const [latest] = (await api.quotes.findAllQuotes({ 'external_customer_id[]': ['acme'] })).data.quotes;
  expect((await api.quotes.findQuote(latest!.lago_id)).data.quote.lago_id).toBe(quote.lago_id);
  const [version] = (await api.quotes.findAllQuoteVersions(quote.lago_id)).data.quote_versions;
  return version!.lago_id;
}
