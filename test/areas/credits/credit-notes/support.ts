import type { Sql } from '../../../../src/platform/db/connect.ts';
import type { Story } from '../../../support/story.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
type Body = any;

/** Notes of a customer, oldest first. */
export async function notesOf(story: Story, customer = 'acme'): Promise<Body[]> {
  const { body } = await story.client.get(`/credit_notes?external_customer_id=${customer}&per_page=100`);
  return body.credit_notes.reverse();
}

/** Balances of an organization's accounts, debits less credits; those of 0 are left out. */
export async function balances(sql: Sql, organizationId: string, invoiceId?: string): Promise<Record<string, number>> {
  const rows = await sql<{ account_code: string; balance: number }[]>`
    select account_code, sum(case side when 'debit' then amount_cents else -amount_cents end)::bigint as balance
    from ledger_entries
    where organization_id = ${organizationId} and (${invoiceId ?? null}::uuid is null
      or invoice_id = ${invoiceId ?? null})
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
