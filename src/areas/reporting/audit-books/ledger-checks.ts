import { dueCents } from '../../invoices/invoices/amount-due.ts';
import { type Check, type Finding, MOST_FINDINGS } from './check-of-an-invariant.ts';

/** A balance in debits less credits. */
const SIGNED = `case side when 'debit' then amount_cents else -amount_cents end`;

const BALANCE_OF_NOTE = `select coalesce(sum(${SIGNED}), 0) from ledger_entries entry
  where entry.organization_id = note.organization_id and entry.credit_note_id = note.id`;

/** Invariants of the journal and of the documents it proves. Rules: ledger.md#invariants, auditor.md. */
export const LEDGER_CHECKS: readonly Check[] = [
  {
    code: 'A01',
    mustHold: 'each transaction of the journal balances and has two lines',
    resourceType: 'LedgerTransaction',
    find: ({ db, organizationId }) => db<Finding[]>`
      select booked.id as resource_id, '0' as expected, coalesce(sum(${db.unsafe(SIGNED)}), 0)::text as actual,
        jsonb_build_object('lines', count(entry.id)) as details
      from ledger_transactions booked
      left join ledger_entries entry on entry.organization_id = booked.organization_id
        and entry.transaction_id = booked.id and entry.currency = booked.currency
      where booked.organization_id = ${organizationId}
      group by booked.id
      having count(entry.id) < 2 or sum(${db.unsafe(SIGNED)}) <> 0
      order by booked.id
      limit ${MOST_FINDINGS}`,
  },
  {
    code: 'A02',
    mustHold: 'each currency of the organization balances, also in the sums that balances are read from',
    resourceType: 'Currency',
    find: ({ db, organizationId }) => db<Finding[]>`
      select currency as resource_id, '0' as expected, sum(${db.unsafe(SIGNED)})::text as actual
      from ledger_entries where organization_id = ${organizationId}
      group by currency
      having sum(${db.unsafe(SIGNED)}) <> 0
      union all
      select currency || ' of days', entries.moved::text, coalesce(summed.moved, 0)::text
      from (
        select currency, sum(amount_cents) as moved from ledger_entries
        where organization_id = ${organizationId} group by currency
      ) entries
      left join (
        select currency, sum(moved) as moved
        from (
          select currency, debit_cents + credit_cents as moved from ledger_daily
            where organization_id = ${organizationId}
          union all
          select entry.currency, entry.amount_cents from ledger_tail tail
          join ledger_entries entry on entry.transaction_id = tail.transaction_id
          where tail.organization_id = ${organizationId}
        ) parts
        group by currency
      ) summed using (currency)
      where entries.moved <> coalesce(summed.moved, 0)`,
  },
  {
    code: 'A03',
    mustHold: 'what the journal says is due of an invoice is its total due; nothing of a voided one',
    resourceType: 'Invoice',
    find: ({ db, organizationId }) => db<Finding[]>`
      select invoice.id as resource_id, expected::text, actual::text
      from (
        select id, ${dueCents(db, 'invoices')} as expected,
          (select coalesce(sum(${db.unsafe(SIGNED)}), 0) * case when invoices.self_billed then -1 else 1 end
            from ledger_entries entry
            where entry.organization_id = invoices.organization_id and entry.invoice_id = invoices.id
              and entry.account_code in ('receivable', 'partner_payable', 'unrecorded_receipts')) as actual
        from invoices
        where organization_id = ${organizationId} and status in ('finalized', 'voided')
          and invoice_type <> 'advance_charges'
      ) invoice
      where expected <> actual
      order by invoice.id
      limit ${MOST_FINDINGS}`,
  },
  {
    code: 'A04',
    mustHold: 'a note’s open credit and refund in the journal are its own, and its parts make its total',
    resourceType: 'CreditNote',
    find: ({ db, organizationId }) => db<Finding[]>`
      select note.id as resource_id, balance_amount_cents::text as expected, actual::text,
        jsonb_build_object('total', total_amount_cents, 'credit', credit_amount_cents, 'refund', refund_amount_cents,
          'offset', offset_amount_cents, 'refund_payable', refund_payable) as details
      from (
        select note.*, sign * (${db.unsafe(BALANCE_OF_NOTE)} and entry.account_code in ('customer_credit',
          'partner_credit'))
            as actual,
          sign * (${db.unsafe(BALANCE_OF_NOTE)} and entry.account_code = 'refunds_payable') as refund_payable
        from credit_notes note
        join invoices invoice on invoice.organization_id = note.organization_id and invoice.id = note.invoice_id
        cross join lateral (select case when invoice.self_billed then 1 else -1 end as sign) side
        where note.organization_id = ${organizationId} and note.status = 'finalized'
      ) note
      where balance_amount_cents <> actual
        or refund_payable <> case when refund_status = 'succeeded' then 0 else refund_amount_cents end
        or balance_amount_cents not between 0 and credit_amount_cents
        or credit_amount_cents + refund_amount_cents + offset_amount_cents <> total_amount_cents
      order by note.id
      limit ${MOST_FINDINGS}`,
  },
  {
    code: 'A05',
    mustHold: 'a wallet’s balance is its prepaid credit in the journal and what its settled transactions leave',
    resourceType: 'Wallet',
    find: ({ db, organizationId }) => db<Finding[]>`
      select wallet.id as resource_id, balance_cents::text as expected, booked::text as actual,
        jsonb_build_object('transactions', moved) as details
      from (
        select wallet.id, case when wallet.status = 'terminated' then 0 else wallet.balance_cents end as balance_cents,
          wallet.status,
          (select coalesce(-sum(${db.unsafe(SIGNED)}), 0) from ledger_entries entry
            where entry.organization_id = wallet.organization_id and entry.wallet_id = wallet.id
              and entry.account_code in ('prepaid_purchased', 'prepaid_granted')) as booked,
          (select coalesce(sum(case transaction_type when 'inbound' then movement.amount_cents
            else -movement.amount_cents end), 0)
            from wallet_transactions movement
            where movement.organization_id = wallet.organization_id and movement.wallet_id = wallet.id
              and movement.status = 'settled') as moved
        from wallets wallet
        where wallet.organization_id = ${organizationId}
      ) wallet
      where balance_cents <> booked or balance_cents < 0 or (status = 'active' and balance_cents <> moved)
      order by wallet.id
      limit ${MOST_FINDINGS}`,
  },
  {
    code: 'A06',
    mustHold: 'what is left of a wallet’s credits is its balance, and what a use took from them is its amount',
    resourceType: 'Wallet',
    find: ({ db, organizationId }) => db<Finding[]>`
      select wallet.id as resource_id, balance_cents::text as expected, remaining::text as actual
      from (
        select wallet.id, wallet.balance_cents,
          (select coalesce(sum(remaining_amount_cents), 0) from wallet_transactions inbound
            where inbound.organization_id = wallet.organization_id and inbound.wallet_id = wallet.id
              and inbound.transaction_type = 'inbound' and inbound.status = 'settled') as remaining
        from wallets wallet
        where wallet.organization_id = ${organizationId} and wallet.status = 'active'
      ) wallet
      where balance_cents <> remaining
      union all
      select movement.id, movement.amount_cents::text, sum(use.consumed_amount_cents)::text
      from wallet_transactions movement
      join wallet_transaction_consumptions use on use.organization_id = movement.organization_id
        and use.outbound_wallet_transaction_id = movement.id
      where movement.organization_id = ${organizationId}
      group by movement.id
      having sum(use.consumed_amount_cents) <> movement.amount_cents
      limit ${MOST_FINDINGS}`,
  },
];
