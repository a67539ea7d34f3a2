import { searchOf } from '../../frame/route.ts';
import { can } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { decimal, money } from '../../parts/amounts.ts';
import { Badge } from '../../parts/badge.tsx';
import { Action, FormDialog } from '../../parts/form.tsx';
import { Section } from '../../parts/page.tsx';
import { Shown } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { day } from '../../parts/times.tsx';

export interface Wallet {
  svc_id: string;
  name: string | null;
  status: string;
  currency: string;
  rate_amount: string;
  credits_balance: string;
  balance_cents: number;
  ongoing_balance_cents: number;
  expiration_at: string | null;
}

/** The wallets of a customer, and a top-up for each. */
export function Wallets({ externalId }: { externalId: string }) {
  const list = useRead<{ wallets: Wallet[] }>(
    can('wallet') ? `/wallets${searchOf({ external_customer_id: externalId, per_page: 20 })}` : null,
  );
  if (!list.data || list.data.wallets.length === 0) return null;
  return (
    <Section title="Wallets">
      <Shown of={list}>
        {({ wallets }) => (
          <Table
            label="Wallets"
            rows={wallets}
            keyOf={({ svc_id }) => svc_id}
            columns={[
              { head: 'Wallet', cell: ({ name }) => name ?? 'Wallet' },
              { head: 'State', cell: ({ status }) => <Badge of={status} /> },
              { head: 'Credits', cell: ({ credits_balance }) => decimal(credits_balance), isNumber: true },
              { head: 'Balance', cell: (wallet) => money(wallet.balance_cents, wallet.currency), isNumber: true },
              {
                head: 'After usage of now',
                cell: (wallet) => money(wallet.ongoing_balance_cents, wallet.currency),
                isNumber: true,
                isExtra: true,
              },
              { head: 'Ends', cell: ({ expiration_at }) => day(expiration_at), isExtra: true },
              {
                head: 'Do',
                cell: (wallet) =>
                  wallet.status === 'active' &&
                  can('wallet_transaction', 'write') && (
                    <Action text="Top up">{(close) => <TopUp wallet={wallet} onClose={close} />}</Action>
                  ),
              },
            ]}
          />
        )}
      </Shown>
    </Section>
  );
}

function TopUp({ wallet, onClose }: { wallet: Wallet; onClose: () => void }) {
  return (
    <FormDialog
      title="Top up"
      submit="Add credits"
      onClose={onClose}
      fields={[
        { name: 'paid_credits', label: 'Credits that are bought', type: 'number', placeholder: '0' },
        { name: 'granted_credits', label: 'Credits that are given', type: 'number', placeholder: '0' },
      ]}
      command={({ paid_credits, granted_credits }) => ({
        method: 'POST',
        path: '/wallet_transactions',
        body: {
          wallet_transaction: {
            wallet_id: wallet.svc_id,
            ...(paid_credits ? { paid_credits } : {}),
            ...(granted_credits ? { granted_credits } : {}),
          },
        },
      })}
    >
      <p class="soft">
        One credit is worth {decimal(wallet.rate_amount)} {wallet.currency}. Credits that are bought are invoiced, and
        count once they are paid.
      </p>
    </FormDialog>
  );
}
