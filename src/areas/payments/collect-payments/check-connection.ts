import type { Config } from '../../../platform/config.ts';
import { mayCall } from '../../../platform/http/may-call.ts';
import type { Given, ProviderDescriptor } from '../../../platform/payments/descriptor.ts';
import { type PaymentProvider, TooManyCalls } from '../../../platform/payments/port.ts';
import { descriptorOf } from '../../../platform/payments/providers.ts';
import { answeredInTime, type PreStep } from '../../../platform/pre-step.ts';
import type { SystemDeps } from '../../../platform/records/system-transaction.ts';
import { transactHoldingClock } from '../../../platform/records/transact.ts';
import { Outage, refuse } from '../../../platform/refusal.ts';
import { givenOf } from '../../customers/payment-providers/commands.ts';
import { getProvider } from '../../customers/payment-providers/queries.ts';
import { LIVE_KEY_IN_SANDBOX, readSecrets } from '../../customers/payment-providers/secrets.ts';
import { type Checked, setConnectionStatus } from '../../customers/payment-providers/status.ts';
import { inboundUrl } from '../../customers/payment-providers/view.ts';
import { type CountsCalls, counted } from '../provider-network/count-calls.ts';
import { connected } from '../provider-network/network.ts';

/**
 * Pre-step of `POST /payment_providers`: the provider accepts the credentials before anything is stored.
 *
 * @throws Refusal 422 third_party_error; of a live account in a sandbox live_key_in_sandbox
 * Rule: provider-connections.md#checking.
 */
export const askAboutNewConnection: PreStep = async (
  deps: CountsCalls & SystemDeps,
  { organizationId, sandbox, input: { body } },
) => {
  const type = descriptorOf(body.type);
  const given = type && givenOf(type, body);
  const { config } = deps;
  if (!type?.open || !given || !isAskable(type, given, config)) return undefined;
  const url = inboundUrl(config, organizationId, { provider_type: body.type, code: body.code });
  const provider = type.open({ code: body.code, ...given, inboundUrl: url }, config);
  return checkedBy(type, counted(deps, type.type, provider), { sandbox });
};

/**
 * Whether a provider can be asked: not one that does not know the secret yet, because it is made by this command, and
 * not at an address that the command refuses.
 */
const isAskable = (type: ProviderDescriptor, { secrets, settings }: Given, config: Config): boolean =>
  type.secrets.every(({ name, make }) => !make || secrets[name] !== undefined) &&
  type.settings.every(({ name, isAddress }) => !isAddress || mayCall(String(settings[name]), config));

/**
 * Pre-step of `PUT /payment_providers/{code}` with a new secret: the stored ones stay until the provider has accepted
 * it. Rule: provider-connections.md#checking.
 */
export const askAboutChangedConnection: PreStep = async (
  deps: CountsCalls & SystemDeps,
  { organizationId, sandbox, input },
) => {
  const { code, body } = input;
  const stored = await getProvider({ db: deps.sql, organizationId }, code);
  const type = descriptorOf(stored.provider_type);
  if (!type?.open) return undefined;
  const given = givenOf(type, body);
  const kept = await readSecrets({ db: deps.sql, config: deps.config }, stored);
  const secrets = { ...kept, ...given.secrets };
  const settings = { ...stored.settings, ...given.settings };
  if (!isAskable(type, { secrets, settings }, deps.config)) return undefined;
  const url = inboundUrl(deps.config, organizationId, stored);
  const open = { code: body.code ?? code, secrets, settings, inboundUrl: url };
  return checkedBy(type, counted(deps, type.type, type.open(open, deps.config)), { sandbox });
};

/**
 * Pre-step of `POST /payment_providers/{code}/check`: a refusal makes the connection fail.
 * Rule: provider-connections.md#checking.
 */
export const askAboutConnection: PreStep = async (deps, { organizationId, sandbox, input }) => {
  const stored = await getProvider({ db: deps.sql, organizationId }, input.code);
  const type = descriptorOf(stored.provider_type);
  const connection = await connected(deps, organizationId, stored.id);
  if (!type || !connection) return undefined;
  const onRefusal = (error: string) =>
    transactHoldingClock(deps, organizationId, (ctx) => setConnectionStatus(ctx, stored, { status: 'failing', error }));
  return checkedBy(type, connection.provider, { sandbox, onRefusal });
};

/** Undefined if the provider could not be reached: nothing is known of the credentials then. */
async function checkedBy(
  type: ProviderDescriptor,
  provider: PaymentProvider,
  { sandbox, onRefusal }: { sandbox: boolean; onRefusal?: (error: string) => Promise<void> },
): Promise<Checked | undefined> {
  let checked: Awaited<ReturnType<PaymentProvider['check']>>;
  try {
    checked = await answeredInTime(provider.check());
  } catch (error) {
    if (error instanceof TooManyCalls)
      throw refuse.tooManyProviderRequests(type.type, error.message, error.retryAfterMs);
    if (error instanceof Outage) return undefined;
    throw error;
  }
  if (!checked.ok) {
    await onRefusal?.(checked.error.message);
    throw refuse.thirdParty(type.type, checked.error.message);
  }
  if (checked.live && sandbox) {
    await onRefusal?.(LIVE_KEY_IN_SANDBOX);
    throw refuse.invalid({ [type.liveField]: [LIVE_KEY_IN_SANDBOX] });
  }
  return { isLive: checked.live };
}
