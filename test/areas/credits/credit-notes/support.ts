import type { Sql } from '../../../../src/platform/db/connect.ts';
import type { Story } from '../../billing/bill-subscriptions/story.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
type Body = any;

/** Notes of a customer, oldest first. */
export async function notesOf(story: Story, customer = 'acme'): Promise<Body[]> {
  const { body } = await story.client.get(`/credit_notes?external_customer_id=${customer}&per_page=100`);
  return body.credit_notes.reverse();
}

export const vat = (story: Story, rate: number) =>
  story.client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate, applied_to_organization: true } });

export const pay = (story: Story, invoiceId: string, amount: number) =>
  story.client.post('/payments', {
    payment: { invoice_id: invoiceId, amount_cents: amount, reference: `paid ${amount}` },
  });

/** A one-off invoice of one add-on, which may be made again and again. */
export async function oneOff(story: Story, amount: number, customer = 'acme'): Promise<Body> {
  await story.client.post('/add_ons', {
    add_on: { name: `Item ${amount}`, code: `item${amount}`, amount_cents: amount, amount_currency: 'USD' },
  });
  const made = await story.client.post('/invoices', {
    invoice: { external_customer_id: customer, currency: 'USD', fees: [{ add_on_code: `item${amount}` }] },
  });
  if (made.status !== 200) throw new Error(made.text);
  return made.body.invoice;
}

/** Asks for a note of some of the only fee of an invoice. */
export const credit = (story: Story, invoice: Body, amount: number, parts: object = { credit_amount_cents: amount }) =>
  story.client.post('/credit_notes', {
    credit_note: {
      invoice_id: invoice.svc_id,
      items: [{ fee_id: invoice.fees[0].svc_id, amount_cents: amount }],
      ...parts,
    },
  });

/** Balances of an organization's accounts, debits less credits; those of 0 are left out. */
export async function balances(sql: Sql, organizationId: string, invoiceId?: string): Promise<Record<string, number>> {
  const rows = await sql<{ account_code: string; balance: number }[]>`
    select account_code, sum(case side when 'debit' then amount_cents else -amount_cents end)::bigint as balance
    from ledger_entries
    where organization_id = ${organizationId} and (${invoiceId ?? null}::uuid is null or invoice_id = ${invoiceId ?? null})
    group by account_code
    order by account_code`;
  return Object.fromEntries(rows.filter(({ balance }) => balance !== 0).map((row) => [row.account_code, row.balance]));
}

/** Lines that one rule booked, in order: account, side, amount. */
export const booked = async (sql: Sql, organizationId: string, rule: string): Promise<string[]> =>
  (
    await sql<{ line: string }[]>`
      select concat_ws(' ', entry.account_code, entry.side, entry.amount_cents) as line
      from ledger_transactions booked
      join ledger_entries entry on entry.transaction_id = booked.id
      where booked.organization_id = ${organizationId} and booked.rule = ${rule}
      order by entry.position`
  ).map(({ line }) => line);
