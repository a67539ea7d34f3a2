import { createHash } from 'node:crypto';
import { realNowMs } from '../../clock/real-clock.ts';
import { Creditor } from './answers.ts';
import type { GocardlessClient } from './client.ts';

/** For how long the rights of an account are remembered: they change by a phone call to GoCardless. */
const KNOWN_FOR_MS = 3_600_000;
/** How many accounts a process remembers. */
const MOST_KNOWN = 1000;

/** What an account may do. */
export interface Account {
  canRefund: boolean;
  /** Schemes in which it has an identifier of its own, under which it may name its payments. */
  ownSchemes: ReadonlySet<string>;
  /** The currency of its first scheme: of a mandate whose customer has none yet. */
  currency: string | undefined;
}

const known = new Map<string, { account: Account; untilMs: number }>();

/** The account of an access token, asked once an hour. @throws ProviderRefusal, Outage */
export async function accountOf(accessToken: string, client: GocardlessClient): Promise<Account> {
  const name = createHash('sha256').update(accessToken).digest('hex');
  const remembered = known.get(name);
  if (remembered && remembered.untilMs > realNowMs()) return remembered.account;
  const account = await readAccount(client);
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(name, { account, untilMs: realNowMs() + KNOWN_FOR_MS });
  return account;
}

/** @throws ProviderRefusal, Outage */
export async function readAccount(client: GocardlessClient): Promise<Account> {
  const { items } = await client.list('creditors', Creditor, { limit: '100' });
  const identifiers = items.flatMap(({ scheme_identifiers }) => scheme_identifiers ?? []);
  const own = identifiers.filter((each) => each.can_specify_mandate_reference === true);
  return {
    canRefund: items.some(({ can_create_refunds }) => can_create_refunds !== false),
    ownSchemes: new Set(own.flatMap(({ scheme }) => (scheme ? [normalScheme(scheme)] : []))),
    currency: identifiers.find(({ currency }) => currency)?.currency ?? undefined,
  };
}

/** A mandate's scheme says which kind of SEPA it is, an identifier does not. */
export const normalScheme = (scheme: string): string => (scheme.startsWith('sepa') ? 'sepa' : scheme);
