import { can } from '../../frame/session.ts';
import { count } from '../../parts/amounts.ts';
import { Badge } from '../../parts/badge.tsx';
import { Action } from '../../parts/form.tsx';
import { Listing } from '../../parts/listing.tsx';
import { type Offer, Offers } from '../../parts/offers.tsx';
import { t } from '../../texts/en.ts';
import { ConnectProvider, providerName } from './connect-provider.tsx';

const words = t.settings;

interface Provider {
  svc_id: string;
  type: string;
  emulates: string | null;
  code: string;
  name: string;
  live: boolean | null;
  status: string;
  last_error: string | null;
  customers_count: number;
  inbound_url: string;
}

const checks = ({ code }: Provider): Offer => ({
  text: words.check,
  needs: 'payment_provider',
  about: words.checkAbout,
  command: () => ({ method: 'POST', path: `/payment_providers/${encodeURIComponent(code)}/check` }),
});

const ends = ({ code }: Provider): Offer => ({
  text: words.endConnection,
  needs: 'payment_provider',
  typed: code,
  about: words.endConnectionAbout,
  command: () => ({ method: 'DELETE', path: `/payment_providers/${encodeURIComponent(code)}` }),
});

/** A sandbox's double appears as the provider that it behaves like. */
const kindOf = (type: string, emulates: string | null): string =>
  emulates === null ? providerName(type) : words.behavesLike(providerName(type), providerName(emulates));

/** Who collects the money. */
export function Providers() {
  return (
    <>
      {can('payment_provider', 'write') && (
        <p class="bar">
          <Action text={words.connect}>{(close) => <ConnectProvider onClose={close} />}</Action>
        </p>
      )}
      <Listing<Provider>
        path="/payment_providers"
        root="payment_providers"
        label={words.providers}
        columns={[
          {
            head: words.name,
            cell: ({ name, code }) => (
              <>
                {name}
                <span class="second">{code}</span>
              </>
            ),
          },
          { head: words.type, cell: ({ type, emulates }) => kindOf(type, emulates) },
          {
            head: words.state,
            cell: ({ status, last_error }) => (
              <>
                <Badge of={status} tone={status === 'connected' ? 'good' : status === 'failing' ? 'bad' : 'wait'} />
                {last_error && <span class="second">{last_error}</span>}
              </>
            ),
          },
          {
            head: words.money,
            cell: ({ live }) => (live === null ? '–' : live ? words.live : words.testMoney),
            isExtra: true,
          },
          { head: words.customers, cell: (provider) => count(provider.customers_count), isNumber: true, isExtra: true },
          {
            head: t.page.do,
            cell: (provider) => (
              <span class="actions">
                <Offers isSmall of={[checks(provider), ends(provider)]} />
              </span>
            ),
          },
        ]}
        empty={{ title: words.noProviders, children: <p class="soft">{words.noProvidersHint}</p> }}
      />
    </>
  );
}
