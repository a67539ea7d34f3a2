import { to } from '../../frame/route.ts';
import { Listing } from '../../parts/listing.tsx';
import { Offers } from '../../parts/offers.tsx';
import { t } from '../../texts/en.ts';
import { makesWallet, topsUp } from '../wallets/offers.ts';
import type { Wallet } from '../wallets/records.ts';
import { WALLET_COLUMNS } from '../wallets/wallets.tsx';

/** The wallets of a customer, and a top-up for each. */
export function Wallets({ externalId, currency }: { externalId: string; currency: string | null }) {
  const make = <Offers of={[makesWallet(externalId, currency ?? '')]} />;
  return (
    <>
      <p class="bar">{make}</p>
      <Listing<Wallet>
        path="/wallets"
        root="wallets"
        isUncounted
        filters={{ external_customer_id: externalId }}
        label={t.wallets.title}
        href={({ svc_id }) => to('wallets', svc_id)}
        columns={[
          ...WALLET_COLUMNS,
          {
            head: t.page.do,
            cell: (wallet) => <Offers isSmall of={[wallet.status === 'active' && topsUp(wallet)]} />,
          },
        ]}
        empty={{ title: t.wallets.none, children: <p class="soft">{t.wallets.noneHint}</p> }}
      />
    </>
  );
}
