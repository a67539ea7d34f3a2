import { holdClock, isSandbox } from '../../../platform/clock/organization-clock.ts';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import type { PaymentProvider } from '../../../platform/payments/port.ts';
import { stripeProvider } from '../../../platform/payments/stripe.ts';
import { nudge } from '../../../platform/records/nudge.ts';
import { type SystemDeps, systemTransaction } from '../../../platform/records/system-transaction.ts';
import { findProviderById, type ProviderRow } from '../../customers/payment-providers/queries.ts';
import { isTestKey, LIVE_KEY_IN_SANDBOX, readSecret } from '../../customers/payment-providers/secrets.ts';

/** A connection with its driver. */
export interface Connected {
  row: ProviderRow;
  provider: PaymentProvider;
}

/**
 * The driver of a connection over the network; undefined for a sandbox double, a missing connection, and in a sandbox
 * that may not reach it. Rule: provider-connections.md#sandboxes-reach-no-live-account.
 */
export async function connected(
  deps: SystemDeps,
  organizationId: OrganizationId,
  providerId: string | null,
): Promise<Connected | undefined> {
  const row = providerId === null ? undefined : await findProviderById({ db: deps.sql, organizationId }, providerId);
  if (row?.provider_type !== 'stripe') return undefined;
  const secretKey = await readSecret({ db: deps.sql, config: deps.config }, row, 'secret_key');
  if (secretKey === undefined || (await isWalledOff(deps, organizationId, row, secretKey))) return undefined;
  const provider = stripeProvider({
    secretKey,
    supports3ds: row.settings.supports_3ds ?? false,
    requiresConsent: row.settings.require_terms_of_service_consent ?? false,
    apiUrl: deps.config.STRIPE_API_URL,
  });
  return { row, provider };
}

/**
 * Second check of sandboxes, for rows that are older than the first check or were changed by hand: they cannot use a
 * live account, nor any account with simulated time. The connection shows the reason, and nothing is retried. Rule:
 * provider-connections.md#sandboxes-reach-no-live-account.
 */
async function isWalledOff(
  { sql, log }: SystemDeps,
  organizationId: OrganizationId,
  provider: ProviderRow,
  secretKey: string,
): Promise<boolean> {
  if (!(await isSandbox({ db: sql, organizationId }))) return false;
  const isLive = !isTestKey(secretKey) || provider.last_error === LIVE_KEY_IN_SANDBOX;
  const clocks = await sql`select from test_clocks where organization_id = ${organizationId}`;
  if (!isLive && clocks.length === 0) return false;
  log.warn({ organizationId, payment_provider_id: provider.id }, 'a call out of a sandbox was refused');
  await sql`
    update payment_providers set status = 'failing', last_error = ${LIVE_KEY_IN_SANDBOX}
    where organization_id = ${organizationId} and id = ${provider.id}`;
  return true;
}

/** Runs one transaction at the organization's present, also while its test clock moves, and nudges what it owes. */
export async function transact(
  deps: SystemDeps,
  organizationId: OrganizationId,
  work: (ctx: Context) => Promise<void>,
): Promise<void> {
  const sandbox = await isSandbox({ db: deps.sql, organizationId });
  const nudges = await systemTransaction(
    deps,
    { id: organizationId, sandbox },
    async (tx) => (sandbox ? (await holdClock({ db: tx, organizationId }))?.frozen_time : undefined) ?? realNow(),
    work,
  );
  if (nudges) await nudge(deps.producer, organizationId, nudges);
}
