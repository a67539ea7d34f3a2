import { route, to } from '../../frame/route.ts';
import { decimal, money } from '../../parts/amounts.ts';
import { Badge } from '../../parts/badge.tsx';
import { CustomerLink } from '../../parts/customer-names.tsx';
import { Listing } from '../../parts/listing.tsx';
import { Offers } from '../../parts/offers.tsx';
import { Page } from '../../parts/page.tsx';
import { RecordFilter } from '../../parts/record-filter.tsx';
import { customers } from '../../parts/sources.ts';
import { Choices, type Column } from '../../parts/table.tsx';
import { day } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import { makesWallet } from './offers.ts';
import type { Wallet } from './records.ts';
import { WalletPage } from './wallet.tsx';

const words = t.wallets;

export default function Wallets() {
  const { id } = route.value;
  return id === undefined ? <List /> : <WalletPage key={id} id={id} />;
}

export const WALLET_COLUMNS: readonly Column<Wallet>[] = [
  { head: words.wallet, cell: ({ name, code }) => name ?? code },
  { head: words.state, cell: ({ status }) => <Badge of={status} /> },
  { head: words.credits, cell: ({ credits_balance }) => decimal(credits_balance), isNumber: true, isExtra: true },
  { head: words.balance, cell: (wallet) => money(wallet.balance_cents, wallet.currency), isNumber: true },
  {
    head: words.ongoing,
    cell: (wallet) => money(wallet.ongoing_balance_cents, wallet.currency),
    isNumber: true,
    isExtra: true,
  },
  { head: words.ends, cell: ({ expiration_at }) => day(expiration_at), isExtra: true },
];

/** Wallets that are used up within so many days run out soon. */
const ENDING_DAYS = 7;

/** Where did the credits go? */
function List() {
  const { query } = route.value;
  const status = query.get('status') ?? 'active';
  const isEnding = status === 'ending';
  const [wallet, ...others] = WALLET_COLUMNS;
  return (
    <Page title={words.title} under={words.under} actions={<Offers of={[makesWallet()]} />}>
      <div class="bar">
        <Choices
          label={words.which}
          name="status"
          options={[
            ['', words.active],
            ['ending', words.ending],
            ['terminated', words.terminated],
          ]}
        />
        <RecordFilter label={words.customer} name="customer" from={customers} />
      </div>
      <Listing<Wallet>
        path="/wallets"
        root="wallets"
        isUncounted
        filters={{
          statuses: [isEnding ? 'active' : status],
          days_left_to: isEnding ? ENDING_DAYS : undefined,
          external_customer_id: query.get('customer'),
        }}
        label={words.title}
        customerOf={({ external_customer_id }) => external_customer_id}
        columns={[
          wallet!,
          {
            head: words.customer,
            cell: ({ external_customer_id: id }) => <CustomerLink id={id} />,
          },
          ...others,
        ]}
        href={({ svc_id }) => to('wallets', svc_id)}
        empty={{ title: words.none, children: <p class="soft">{words.noneHint}</p> }}
      />
    </Page>
  );
}
