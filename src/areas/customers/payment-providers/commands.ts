import { lockClockCreation } from '../../../platform/clock/organization-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { newId } from '../../../platform/ids.ts';
import { announce } from '../../../platform/reactions.ts';
import { refuse } from '../../../platform/refusal.ts';
import { pagesOfProviderOutdated, providerDeleted } from '../announcements.ts';
import { recordProvider } from './announce.ts';
import { findProvider, findProviderById, getProvider, type ProviderRow } from './queries.ts';
import type { ProviderCreate, ProviderType, ProviderUpdate } from './schema.ts';
import { demandKeyFor, isTestKey, sealSecrets } from './secrets.ts';
import { providerView } from './view.ts';
import { deleteProviderRow, insertProvider, renameOfCustomers, updateProviderRow } from './writes.ts';

/**
 * Secrets and switches of the providers that can be connected; the others are refused by name.
 * Rule: provider-connections.md#routes.
 */
const CONNECTABLE: Partial<
  Record<
    ProviderType,
    {
      mandatory?: 'secret_key';
      secrets: readonly ('secret_key' | 'webhook_secret')[];
      switches: readonly ('supports_3ds' | 'require_terms_of_service_consent')[];
    }
  >
> = {
  sandbox: { secrets: ['webhook_secret'], switches: [] },
  stripe: {
    mandatory: 'secret_key',
    secrets: ['secret_key'],
    switches: ['supports_3ds', 'require_terms_of_service_consent'],
  },
};

/** Asks a connection's provider to check the credentials and to send its events. */
export const CONNECT_JOB = 'payment.connect';

/**
 * Connects a payment provider. A sandbox one works at once; the credentials of any other are tried right after the
 * commit (`unverified` until then).
 *
 * @throws Refusal 422 type, of a sandbox outside sandbox organizations or a provider that cannot be connected yet;
 *   code; the mandatory secret; in a sandbox a live key, or any real connection beside a test clock; a secret outside
 *   sandboxes, where no key seals it (secrets_key_missing)
 * Rules: provider-connections.md#routes, provider-connections.md#sandboxes-reach-no-live-account,
 * provider-connections.md#secrets.
 */
export async function createProvider(ctx: Context, { body }: { body: ProviderCreate }) {
  const known = CONNECTABLE[body.type];
  if (!known) throw refuse.invalid({ type: ['unsupported_value'] });
  if (body.type === 'sandbox' && !ctx.sandbox) throw refuse.invalid({ type: ['value_is_invalid'] });
  if (known.mandatory && !body[known.mandatory]?.trim())
    throw refuse.invalid({ [known.mandatory]: ['value_is_mandatory'] });
  if (body.type !== 'sandbox') await refuseRealMoneyInSandbox(ctx, body);
  if (await findProvider(ctx, body.code)) throw refuse.invalid({ code: ['value_already_exist'] });
  const id = newId();
  const given = secretsOf(body);
  demandKeyFor(ctx, given);
  const sealed = await sealSecrets(ctx, id, given);
  const settings = settingsOf(body);
  const status = body.type === 'sandbox' ? 'connected' : 'unverified';
  await insertProvider(ctx, body, { id, ...sealed, settings, status });
  const provider = (await findProviderById(ctx, id))!;
  if (body.type !== 'sandbox') connect(ctx, id);
  recordProvider(ctx, 'created', provider);
  return answer(ctx, provider);
}

/**
 * Changes a connection: a new code is the customers' code too, a new secret is tried like the first.
 *
 * @throws Refusal 404 payment_provider; 422 type value_is_invalid, since it never changes; code value_already_exist;
 *   secret_key live_key_in_sandbox
 */
export async function updateProvider(ctx: Context, { code, body }: { code: string; body: ProviderUpdate }) {
  const stored = await getProvider(ctx, code);
  if (body.type !== undefined && body.type !== stored.provider_type)
    throw refuse.invalid({ type: ['value_is_invalid'] });
  if (body.emulates !== undefined && body.emulates !== stored.emulates)
    throw refuse.invalid({ emulates: ['value_is_frozen'] });
  const newCode = body.code ?? stored.code;
  if (newCode !== stored.code && (await findProvider(ctx, newCode)))
    throw refuse.invalid({ code: ['value_already_exist'] });
  const given = secretsOf(body);
  refuseLiveKeyInSandbox(ctx, given);
  demandKeyFor(ctx, given);
  const sealed = await sealSecrets(ctx, stored.id, given);
  const isTried = stored.provider_type !== 'sandbox' && (given.secret_key !== undefined || newCode !== stored.code);
  const settings = settingsOf(body);
  const status = isTried ? 'unverified' : stored.status;
  await updateProviderRow(ctx, stored, { given: body, kept: { ...sealed, settings, status } });
  if (newCode !== stored.code) await renameOfCustomers(ctx, stored.id, newCode);
  if (changesConsent(stored, body)) await announce(ctx, pagesOfProviderOutdated, { payment_provider_id: stored.id });
  if (isTried) connect(ctx, stored.id);
  const changed = (await findProviderById(ctx, stored.id))!;
  recordProvider(ctx, 'updated', changed, stored);
  return answer(ctx, changed);
}

/**
 * Ends a connection: its customers are no longer linked and their methods are gone. Payments in progress continue and
 * still follow the provider's events.
 *
 * @throws Refusal 404 payment_provider
 */
export async function deleteProvider(ctx: Context, { code }: { code: string }) {
  const provider = await getProvider(ctx, code);
  await deleteProviderRow(ctx, provider.id);
  await announce(ctx, providerDeleted, { payment_provider_id: provider.id });
  recordProvider(ctx, 'deleted', provider);
  return answer(ctx, provider);
}

/** Tries the credentials of a connection again. @throws Refusal 404 payment_provider */
export async function checkProvider(ctx: Context, { code }: { code: string }) {
  const provider = await getProvider(ctx, code);
  if (provider.provider_type !== 'sandbox') connect(ctx, provider.id);
  return answer(ctx, provider);
}

/**
 * A sandbox cannot use an account that really charges, and with simulated time no account at all: simulated days would
 * become real calls within seconds. Rule: provider-connections.md#sandboxes-reach-no-live-account.
 */
async function refuseRealMoneyInSandbox(ctx: Context, body: ProviderCreate): Promise<void> {
  refuseLiveKeyInSandbox(ctx, secretsOf(body));
  if (!ctx.sandbox) return;
  await lockClockCreation(ctx);
  const clocks = await ctx.db`select from test_clocks where organization_id = ${ctx.organizationId}`;
  if (clocks.length > 0) throw refuse.invalid({ type: ['value_is_invalid'] });
}

function refuseLiveKeyInSandbox(ctx: Context, { secret_key: key }: Record<string, string>): void {
  if (ctx.sandbox && key !== undefined && !isTestKey(key))
    throw refuse.invalid({ secret_key: ['live_key_in_sandbox'] });
}

/** Open pages are closed because they ask for consent by the former settings. Rule: provider-connections.md#routes. */
const changesConsent = ({ settings }: ProviderRow, body: ProviderUpdate): boolean =>
  body.require_terms_of_service_consent !== undefined &&
  body.require_terms_of_service_consent !== (settings.require_terms_of_service_consent ?? false);

const connect = (ctx: Context, id: string): void =>
  ctx.after({ nudge: CONNECT_JOB, payload: { payment_provider_id: id } });

const answer = (ctx: Context, provider: ProviderRow) => ({
  payment_provider: providerView(provider, ctx.config, ctx.organizationId),
});

const SECRETS = ['secret_key', 'webhook_secret'] as const;
const SWITCHES = ['supports_3ds', 'require_terms_of_service_consent'] as const;

const secretsOf = (body: ProviderUpdate): Record<string, string> =>
  Object.fromEntries(SECRETS.map((name) => [name, body[name]?.trim()]).filter(([, value]) => value)) as Record<
    string,
    string
  >;

const settingsOf = (body: ProviderUpdate): Record<string, boolean> =>
  Object.fromEntries(SWITCHES.map((name) => [name, body[name]]).filter(([, value]) => value !== undefined)) as Record<
    string,
    boolean
  >;
