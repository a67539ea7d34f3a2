import { route } from '../../frame/route.ts';
import { Page } from '../../parts/page.tsx';
import { Choices } from '../../parts/table.tsx';
import { t } from '../../texts/en.ts';
import { Accounts } from './accounts.tsx';
import { Entries } from './entries.tsx';
import { TransactionPage } from './transaction.tsx';
import { TrialBalances } from './trial-balance.tsx';

const words = t.ledger;

export default function Ledger() {
  const { id } = route.value;
  return id === undefined ? <Books /> : <TransactionPage key={id} id={id} />;
}

/** Do debit and credit meet, and what was booked for a record? */
function Books() {
  const show = route.value.query.get('show') ?? '';
  return (
    <Page title={words.title} under={words.under}>
      <div class="bar">
        <Choices
          label={words.which}
          name="show"
          options={[
            ['', words.trialBalance],
            ['accounts', words.accounts],
            ['entries', words.entries],
          ]}
        />
      </div>
      {show === '' && <TrialBalances />}
      {show === 'accounts' && <Accounts />}
      {show === 'entries' && <Entries />}
    </Page>
  );
}
