import { to } from '../../frame/route.ts';
import { money } from '../../parts/amounts.ts';
import type { Column } from '../../parts/table.tsx';
import { t } from '../../texts/en.ts';
import type { Entry } from './records.ts';

const words = t.ledger;

/** What an account holds, and below it the code that exports and the API use. */
export const AccountName = ({ code }: { code: string }) => (
  <>
    {words.accountNames[code] ?? code}
    <span class="second">{code}</span>
  </>
);

/** `invoice_finalized` as a person reads it. */
export const ruleText = (rule: string): string => {
  const text = rule.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
};

/** The record that an entry is about, as a link to its page. */
export function RecordOf({ entry }: { entry: Entry }) {
  const records = [
    ['credit-notes', entry.svc_credit_note_id, words.records.credit_note],
    ['payments', entry.svc_payment_id, words.records.payment],
    ['invoices', entry.svc_invoice_id, words.records.invoice],
    ['wallets', entry.svc_wallet_id, words.records.wallet],
  ] as const;
  const [room, id, text] = records.find(([, each]) => each !== null) ?? [];
  return room && id ? <a href={to(room, id)}>{text}</a> : <span class="soft">–</span>;
}

/** An amount stands on one side; the other one is empty, as in a book. */
export const SIDES: readonly Column<Entry>[] = (['debit', 'credit'] as const).map((side) => ({
  head: words[side],
  cell: (entry: Entry) => (entry.side === side ? money(entry.amount_cents, entry.currency) : ''),
  isNumber: true,
}));
