import { useSignal } from '@preact/signals';
import { route, to } from '../../frame/route.ts';
import { useRead } from '../../frame/use-read.ts';
import { decimal, price } from '../../parts/amounts.ts';
import { Badge } from '../../parts/badge.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Listing } from '../../parts/listing.tsx';
import { Empty, Shown } from '../../parts/states.tsx';
import { Choices, Table } from '../../parts/table.tsx';
import { When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import type { Wallet, WalletTransaction } from './records.ts';

const words = t.wallets;

const kindOf = ({ transaction_status: kind, transaction_type: type }: WalletTransaction): string =>
  words.kinds[kind] ?? words.kinds[type] ?? kind;

/** What came into a wallet and what went out of it; a row opens what it paid, or what it was paid from. */
export function Transactions({ wallet }: { wallet: Wallet }) {
  const opened = useSignal<WalletTransaction | undefined>(undefined);
  const { query } = route.value;
  return (
    <>
      <div class="bar">
        <Choices
          label={words.whichTransactions}
          name="type"
          options={[
            ['', t.list.all],
            ['inbound', words.came],
            ['outbound', words.went],
          ]}
        />
      </div>
      <Listing<WalletTransaction>
        path={`/wallets/${wallet.svc_id}/wallet_transactions`}
        root="wallet_transactions"
        isUncounted
        filters={{ transaction_type: query.get('type') }}
        label={words.transactions}
        columns={[
          {
            head: words.what,
            cell: (row) => (
              <>
                <button
                  type="button"
                  class="quiet small"
                  onClick={() => {
                    opened.value = row;
                  }}
                >
                  {kindOf(row)}
                </button>
                {row.name && <span class="second">{row.name}</span>}
              </>
            ),
          },
          { head: words.state, cell: ({ status }) => <Badge of={status} /> },
          {
            head: words.when,
            cell: ({ settled_at, failed_at, created_at }) => <When at={settled_at ?? failed_at ?? created_at} />,
          },
          {
            head: words.invoice,
            cell: ({ svc_invoice_id: id }) =>
              id ? <a href={to('invoices', id)}>{words.openInvoice}</a> : <span class="soft">–</span>,
            isExtra: true,
          },
          { head: words.credits, cell: (row) => signed(row, decimal(row.credit_amount)), isNumber: true },
          {
            head: words.amount,
            cell: (row) => signed(row, price(row.amount, wallet.currency)),
            isNumber: true,
            isExtra: true,
          },
        ]}
        empty={{ title: words.noTransactions, children: <p class="soft">{words.noTransactionsHint}</p> }}
      />
      {opened.value && (
        <Dialog
          title={kindOf(opened.value)}
          onClose={() => {
            opened.value = undefined;
          }}
        >
          <Parts of={opened.value} wallet={wallet} />
        </Dialog>
      )}
    </>
  );
}

const signed = ({ transaction_type }: WalletTransaction, text: string): string =>
  transaction_type === 'outbound' ? `−${text}` : `+${text}`;

interface Part {
  svc_id: string;
  credit_amount: string;
  created_at: string;
  wallet_transaction: WalletTransaction;
}

function Parts({ of, wallet }: { of: WalletTransaction; wallet: Wallet }) {
  const isIn = of.transaction_type === 'inbound';
  const root = isIn ? 'wallet_transaction_consumptions' : 'wallet_transaction_fundings';
  const reading = useRead<Record<string, Part[]>>(
    `/wallet_transactions/${of.svc_id}/${isIn ? 'consumptions' : 'fundings'}?per_page=100`,
  );
  return (
    <>
      <p class="soft">
        {isIn && of.remaining_credit_amount !== null
          ? words.remaining(decimal(of.remaining_credit_amount), decimal(of.credit_amount))
          : price(of.amount, wallet.currency)}
      </p>
      <h3>{isIn ? words.consumptions : words.fundings}</h3>
      <Shown of={reading}>
        {(answer) =>
          (answer[root] ?? []).length === 0 ? (
            <Empty title={isIn ? words.notConsumed : words.notFunded} />
          ) : (
            <Table
              label={isIn ? words.consumptions : words.fundings}
              rows={answer[root]!}
              keyOf={({ svc_id }) => svc_id}
              columns={[
                { head: words.what, cell: ({ wallet_transaction }) => kindOf(wallet_transaction) },
                { head: words.when, cell: ({ created_at }) => <When at={created_at} /> },
                { head: words.credits, cell: ({ credit_amount }) => decimal(credit_amount), isNumber: true },
              ]}
            />
          )
        }
      </Shown>
    </>
  );
}
