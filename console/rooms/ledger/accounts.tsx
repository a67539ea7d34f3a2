import { route, searchOf, to } from '../../frame/route.ts';
import { useRead } from '../../frame/use-read.ts';
import { money } from '../../parts/amounts.ts';
import { Shown } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { t } from '../../texts/en.ts';
import { AtDay, balancesAsked, NothingBooked } from './at-day.tsx';
import { AccountName } from './cells.tsx';
import type { Account } from './records.ts';

const words = t.ledger;

/** What went in and out of every account, by billing entity and currency. */
export function Accounts() {
  const at = route.value.query.get('at');
  const reading = useRead<{ ledger_accounts: Account[] }>(`/ledger/accounts${searchOf(balancesAsked())}`);
  return (
    <>
      <AtDay />
      <Shown of={reading} rows={8}>
        {({ ledger_accounts: accounts }) =>
          accounts.length === 0 ? (
            <NothingBooked />
          ) : (
            <Table
              label={words.accounts}
              rows={accounts}
              keyOf={({ code, currency, billing_entity_code: entity }) => `${code} ${currency} ${entity}`}
              href={({ code, currency, billing_entity_code: entity }) =>
                to('ledger', undefined, undefined, { show: 'entries', account: code, currency, entity, until: at })
              }
              columns={[
                { head: words.account, cell: ({ code }) => <AccountName code={code} /> },
                { head: words.kind, cell: ({ kind }) => words.kinds[kind] ?? kind, isExtra: true },
                { head: words.entity, cell: (account) => account.billing_entity_code, isExtra: true },
                {
                  head: words.debit,
                  cell: (account) => money(account.debit_cents, account.currency),
                  isNumber: true,
                  isExtra: true,
                },
                {
                  head: words.credit,
                  cell: (account) => money(account.credit_cents, account.currency),
                  isNumber: true,
                  isExtra: true,
                },
                {
                  head: words.balance,
                  cell: (account) => money(account.balance_cents, account.currency),
                  isNumber: true,
                },
              ]}
            />
          )
        }
      </Shown>
    </>
  );
}
