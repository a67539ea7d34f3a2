import { route, searchOf, to } from '../../frame/route.ts';
import { useRead } from '../../frame/use-read.ts';
import { money } from '../../parts/amounts.ts';
import { Badge } from '../../parts/badge.tsx';
import { Section } from '../../parts/page.tsx';
import { Shown } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { t } from '../../texts/en.ts';
import { AtDay, balancesAsked, NothingBooked } from './at-day.tsx';
import { AccountName } from './cells.tsx';
import type { TrialBalance } from './records.ts';

const words = t.ledger;

/** Each account's balance on one side, one book for each currency; the sides are equal, or the badge says so. */
export function TrialBalances() {
  const at = route.value.query.get('at');
  const reading = useRead<{ trial_balance: TrialBalance }>(`/ledger/trial_balance${searchOf(balancesAsked())}`);
  return (
    <>
      <AtDay />
      <Shown of={reading} rows={8}>
        {({ trial_balance: { currencies } }) =>
          currencies.length === 0 ? (
            <NothingBooked />
          ) : (
            currencies.map((book) => <Book key={book.currency} of={book} at={at} />)
          )
        }
      </Shown>
    </>
  );
}

function Book({ of: book, at }: { of: TrialBalance['currencies'][number]; at: string | null }) {
  const side = (cents: number) => (cents === 0 ? '' : money(cents, book.currency));
  return (
    <Section
      title={book.currency}
      more={
        <Badge of={book.balanced ? 'good' : 'bad'} tone={book.balanced ? 'good' : 'bad'}>
          {book.balanced ? words.balanced : words.unbalanced}
        </Badge>
      }
    >
      <Table
        label={`${words.trialBalance} ${book.currency}`}
        rows={book.rows}
        keyOf={({ account_code }) => account_code}
        href={({ account_code }) =>
          to('ledger', undefined, undefined, {
            show: 'entries',
            account: account_code,
            currency: book.currency,
            until: at,
          })
        }
        columns={[
          {
            head: words.account,
            cell: ({ account_code }) => <AccountName code={account_code} />,
            foot: words.total,
          },
          {
            head: words.debit,
            cell: ({ debit_cents }) => side(debit_cents),
            isNumber: true,
            foot: money(book.total_debit_cents, book.currency),
          },
          {
            head: words.credit,
            cell: ({ credit_cents }) => side(credit_cents),
            isNumber: true,
            foot: money(book.total_credit_cents, book.currency),
          },
        ]}
      />
    </Section>
  );
}
