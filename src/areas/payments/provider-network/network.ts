import type { Temporal } from 'temporal-polyfill';
import { isSandbox } from '../../../platform/clock/organization-clock.ts';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import type { Metrics } from '../../../platform/metrics/metrics.ts';
import {
  CredentialsRefused,
  isAboutCredentials,
  type PaymentProvider,
  type ProviderError,
  ProviderRefusal,
  ReadRefused,
  TooManyCalls,
} from '../../../platform/payments/port.ts';
import { type ProviderCalls, TurnTooLate, WAITED_MOST_MS } from '../../../platform/payments/provider-calls.ts';
import { descriptorOf } from '../../../platform/payments/providers.ts';
import { publicUrl } from '../../../platform/public-url.ts';
import type { SystemDeps } from '../../../platform/records/system-transaction.ts';
import { transactHoldingClock } from '../../../platform/records/transact.ts';
import { storableJson } from '../../../platform/schema/storable.ts';
import { contractName, findProviderById, type ProviderRow } from '../../customers/payment-providers/queries.ts';
import { LIVE_KEY_IN_SANDBOX, readSecrets } from '../../customers/payment-providers/secrets.ts';
import { REFUSED_CALLS_MOST, setConnectionStatus } from '../../customers/payment-providers/status.ts';
import { inboundUrl } from '../../customers/payment-providers/view.ts';
import { counted } from './count-calls.ts';

const HOUR_MS = 3_600_000;

/** What calls a provider; a job of a queue has its calls paced. */
export type NetworkDeps = SystemDeps & {
  calls?: ProviderCalls;
  metrics?: Pick<Metrics, 'providerCalls' | 'providerCallsRefused'>;
};

/** A connection with its driver. */
export interface Connected {
  row: ProviderRow;
  provider: PaymentProvider;
}

/**
 * The driver of a connection over the network; undefined for a sandbox double, a missing connection, and in a sandbox
 * that may not reach it. Rule: provider-connections.md#sandboxes-reach-no-live-account.
 *
 * @param known whether the organization is a sandbox, by who has read it already
 * @throws Later, when the calls of the connection are used up; TooManyCalls, when somebody waits and would for too long
 */
export async function connected(
  deps: NetworkDeps,
  organizationId: OrganizationId,
  providerId: string | null,
  known?: { sandbox: boolean },
): Promise<Connected | undefined> {
  const row = providerId === null ? undefined : await findProviderById({ db: deps.sql, organizationId }, providerId);
  const type = descriptorOf(row?.provider_type);
  if (!row || !type?.open) return undefined;
  const secrets = await readSecrets({ db: deps.sql, config: deps.config }, row);
  if (type.secrets.some(({ name, isMandatory, make }) => (isMandatory || make) && secrets[name] === undefined))
    return undefined;
  const isLive = type.isLive({ secrets, settings: row.settings }) ?? row.live ?? true;
  const sandbox = known?.sandbox ?? (await isSandbox({ db: deps.sql, organizationId }));
  if (sandbox && (await isWalledOff(deps, organizationId, row, isLive))) return undefined;
  if (deps.calls) await takeTurn(deps.calls, row, type.callsPerSecond);
  const inbound = inboundUrl(deps.config, organizationId, row);
  const returnUrl = row.success_redirect_url ?? publicUrl(deps.config);
  const open = { code: row.code, secrets, settings: row.settings, inboundUrl: inbound, returnUrl };
  const provider = counted(deps, type.type, type.open(open, deps.config));
  return { row, provider: watched(deps, organizationId, row, provider) };
}

async function takeTurn(calls: ProviderCalls, row: ProviderRow, perSecond: number): Promise<void> {
  try {
    await calls.takeTurn(row.id, perSecond, calls.isWaited ? WAITED_MOST_MS : undefined);
  } catch (error) {
    throw error instanceof TurnTooLate ? new TooManyCalls(contractName(row), error, error.delayMs) : error;
  }
}

/**
 * The same driver, which notes what calls say of the credentials: three in a row that are refused for them make the
 * connection fail, and one that is not ends that. A check is noted by who made it.
 * Rule: provider-connections.md#checking.
 */
function watched(
  deps: NetworkDeps,
  organizationId: OrganizationId,
  row: ProviderRow,
  provider: PaymentProvider,
): PaymentProvider {
  let isSuspect = row.status === 'failing' || row.refused_calls > 0;
  const note = async (error: ProviderError | undefined) => {
    if (isAboutCredentials(error)) {
      isSuspect = true;
      await noteRefused(deps, organizationId, row, error.message);
    } else if (isSuspect) {
      isSuspect = false;
      await transactHoldingClock(deps, organizationId, (ctx) =>
        setConnectionStatus(ctx, row, { status: 'connected', error: null }),
      );
    }
  };
  return new Proxy(provider, {
    get(target, name: keyof PaymentProvider) {
      if (name === 'check' || typeof target[name] !== 'function') return target[name];
      const method = target[name] as (...parameters: unknown[]) => Promise<unknown>;
      return async (...parameters: unknown[]) => {
        try {
          // What it says is stored, and Postgres does not take every text.
          const result = storableJson(await method.apply(target, parameters));
          const { kind, error } = (result ?? {}) as { kind?: string; error?: ProviderError };
          if (kind !== 'unreachable' || isAboutCredentials(error)) await note(error);
          return result;
        } catch (error) {
          if (error instanceof ProviderRefusal || error instanceof CredentialsRefused || error instanceof ReadRefused) {
            Object.assign(error.error, storableJson(error.error));
            await note(error.error);
          }
          if (error instanceof TooManyCalls) await deps.calls?.holdBack(row.id, error.retryAfterMs);
          throw error;
        }
      };
    },
  });
}

async function noteRefused(
  deps: SystemDeps,
  organizationId: OrganizationId,
  row: ProviderRow,
  error: string,
): Promise<void> {
  const [now] = await deps.sql<{ refused_calls: number }[]>`
    update payment_providers set refused_calls = refused_calls + 1
    where organization_id = ${organizationId} and id = ${row.id} and deleted_at is null returning refused_calls`;
  if (!now || now.refused_calls < REFUSED_CALLS_MOST) return;
  await transactHoldingClock(deps, organizationId, (ctx) =>
    setConnectionStatus(ctx, row, { status: 'failing', error }),
  );
}

/**
 * Second check of a sandbox, for rows that are older than the first check or were changed by hand: they cannot use a
 * live account, nor any account with simulated time. The connection shows the reason, and nothing is retried. Rule:
 * provider-connections.md#sandboxes-reach-no-live-account.
 */
async function isWalledOff(
  { sql, log, metrics }: NetworkDeps,
  organizationId: OrganizationId,
  provider: ProviderRow,
  isLiveAccount: boolean,
): Promise<boolean> {
  const isLive = isLiveAccount || provider.last_error === LIVE_KEY_IN_SANDBOX;
  const clocks = await sql`select from test_clocks where organization_id = ${organizationId}`;
  if (!isLive && clocks.length === 0) return false;
  log.warn(
    { organization_id: organizationId, payment_provider_id: provider.id },
    'a call out of a sandbox was refused',
  );
  metrics?.providerCallsRefused.inc();
  await sql`
    update payment_providers set status = 'failing', last_error = ${LIVE_KEY_IN_SANDBOX}
    where organization_id = ${organizationId} and id = ${provider.id}`;
  return true;
}

/**
 * Whether a call that was first sent at `sentAt` must not be repeated, because its provider no longer recognises the
 * idempotency key and would do it a second time.
 */
export const isKeyForgotten = ({ provider_type }: ProviderRow, sentAt: Temporal.Instant): boolean =>
  sentAt.epochMilliseconds + (descriptorOf(provider_type)?.keyLivesHours ?? 0) * HOUR_MS < realNow().epochMilliseconds;
