import { to } from '../../frame/route.ts';
import { can } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { decimal, money } from '../../parts/amounts.ts';
import { Badge } from '../../parts/badge.tsx';
import { Id } from '../../parts/copy.tsx';
import { NamedCustomer } from '../../parts/customer-names.tsx';
import { Figure } from '../../parts/figure.tsx';
import { inLedger } from '../../parts/in-ledger.tsx';
import { Offers } from '../../parts/offers.tsx';
import { Facts, Page, Section } from '../../parts/page.tsx';
import { Shown } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { day, When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import { BurnDown } from './burn-down.tsx';
import { editsWallet, endsWallet, topsUp, voidsCredits } from './offers.ts';
import type { Hold, Wallet } from './records.ts';
import { Transactions } from './transactions.tsx';

const words = t.wallets;

/** What is left of prepaid credits, and where they went. */
export function WalletPage({ id }: { id: string }) {
  const path = `/wallets/${encodeURIComponent(id)}`;
  const reading = useRead<{ wallet: Wallet }>(path);
  return (
    <Shown of={reading} rows={8}>
      {({ wallet }) => (
        <Page
          title={wallet.name ?? wallet.code}
          badge={<Badge of={wallet.status} />}
          back={{ href: to('wallets'), text: words.title }}
          under={
            <>
              {words.of} <NamedCustomer id={wallet.external_customer_id} /> ·{' '}
              {words.worth(decimal(wallet.rate_amount), wallet.currency)}
            </>
          }
          actions={
            wallet.status === 'active' && (
              <Offers
                of={[
                  { ...topsUp(wallet), isMain: true },
                  voidsCredits(wallet),
                  editsWallet(wallet),
                  endsWallet(wallet),
                ]}
              />
            )
          }
        >
          <div class="figures">
            <Figure
              label={words.balance}
              value={money(wallet.balance_cents, wallet.currency)}
              note={words.creditsLeft(decimal(wallet.credits_balance))}
              origin={{ path, formula: words.balanceFormula }}
            />
            <Figure
              label={words.ongoing}
              value={money(wallet.ongoing_balance_cents, wallet.currency)}
              tone={wallet.ongoing_balance_cents < 0 ? 'bad' : undefined}
              note={words.ongoingNote}
              origin={{ path, formula: words.ongoingFormula }}
            />
            <Figure
              label={words.consumed}
              value={decimal(wallet.consumed_credits)}
              note={words.consumedNote}
              origin={{ path, formula: words.consumedFormula }}
            />
          </div>
          <BurnDown path={path} />
          <Section title={words.transactions}>
            <Transactions wallet={wallet} />
          </Section>
          {can('wallet_hold') && <Holds path={path} />}
          <Rules of={wallet} />
          <Section title={t.page.facts}>
            <div class="card padded">
              <Facts
                of={[
                  [words.code, <code>{wallet.code}</code>],
                  [words.priority, wallet.priority],
                  [words.ends, day(wallet.expiration_at)],
                  [words.synced, <When at={wallet.last_balance_sync_at} />],
                  [t.page.made, <When at={wallet.created_at} />],
                  ...inLedger('wallet', wallet.svc_id),
                  [t.page.id, <Id of={wallet.svc_id} />],
                ]}
              />
            </div>
          </Section>
        </Page>
      )}
    </Shown>
  );
}

/** Credit that is set aside for something that may happen. */
function Holds({ path }: { path: string }) {
  const { data } = useRead<{ holds: Hold[] }>(`${path}/holds?statuses[]=active&per_page=50`);
  if (!data || data.holds.length === 0) return null;
  return (
    <Section title={words.holds}>
      <Table
        label={words.holds}
        rows={data.holds}
        keyOf={({ svc_id }) => svc_id}
        columns={[
          { head: words.holdFor, cell: (hold) => hold.reference ?? hold.external_subscription_id ?? hold.svc_id },
          { head: words.amount, cell: (hold) => money(hold.amount_cents, hold.currency), isNumber: true },
          { head: words.heldUntil, cell: ({ expires_at }) => <When at={expires_at} /> },
          {
            head: t.page.do,
            cell: ({ svc_id }) => (
              <Offers
                isSmall
                of={[
                  {
                    text: words.release,
                    needs: 'wallet_hold',
                    about: words.releaseAbout,
                    command: () => ({ method: 'POST', path: `${path}/holds/${svc_id}/release` }),
                  },
                ]}
              />
            ),
          },
        ]}
      />
    </Section>
  );
}

/** When the wallet is topped up by itself. */
function Rules({ of: { recurring_transaction_rules: rules = [] } }: { of: Wallet }) {
  const active = rules.filter(({ status }) => status === 'active');
  if (active.length === 0) return null;
  return (
    <Section title={words.rules}>
      <div class="card padded">
        <ul class="prose">
          {active.map((rule) => (
            <li key={rule.svc_id}>
              {words.rule(
                rule.trigger === 'threshold'
                  ? words.belowCredits(decimal(rule.threshold_credits))
                  : words.every(rule.interval),
                rule.method === 'target'
                  ? words.upTo(decimal(rule.target_ongoing_balance))
                  : words.byCredits(decimal(rule.paid_credits), decimal(rule.granted_credits)),
              )}
            </li>
          ))}
        </ul>
      </div>
    </Section>
  );
}
