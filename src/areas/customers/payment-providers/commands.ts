import { lockClockCreation } from '../../../platform/clock/organization-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { mayCall } from '../../../platform/http/may-call.ts';
import { newId } from '../../../platform/ids.ts';
import type { Given, ProviderDescriptor } from '../../../platform/payments/descriptor.ts';
import { descriptorOf, PROVIDERS } from '../../../platform/payments/providers.ts';
import { announce } from '../../../platform/reactions.ts';
import { refuse } from '../../../platform/refusal.ts';
import { pagesOfProviderOutdated, providerDeleted } from '../announcements.ts';
import { recordProvider } from './announce.ts';
import {
  getProvider,
  isProviderCodeTaken,
  type ProviderRow,
  readShownProvider,
  type ShownProviderRow,
} from './queries.ts';
import type { ProviderCreate, ProviderUpdate } from './schema.ts';
import { demandKeyFor, LIVE_KEY_IN_SANDBOX, sealSecrets } from './secrets.ts';
import { type Checked, setConnectionStatus } from './status.ts';
import { providerView } from './view.ts';
import { deleteProviderRow, insertProvider, renameOfCustomers, updateProviderRow } from './writes.ts';

/** A connection of this code could not be read: its path is that of the table of types. */
const RESERVED_CODE = 'types';

/** Checks the credentials of a connection where that is due, and registers for its provider's events. */
export const CONNECT_JOB = 'payment.connect';

/**
 * Connects a payment provider. A sandbox one works at once; the provider of any other was asked before, and one that
 * could not be reached leaves the connection `unverified`.
 *
 * @throws Refusal 422 type, of a sandbox outside sandbox organizations or a provider that cannot be connected yet;
 *   code; a missing mandatory field; a field of another type; in a sandbox a live key, or any real connection beside a
 *   test clock; a secret outside sandboxes, where no key seals it (secrets_key_missing)
 * Rules: provider-connections.md#routes, provider-connections.md#sandboxes-reach-no-live-account,
 * provider-connections.md#secrets.
 */
export async function createProvider(ctx: Context, { body }: { body: ProviderCreate }) {
  const type = descriptorOf(body.type);
  if (!type) throw refuse.invalid({ type: ['unsupported_value'] });
  if (type.isForSandboxesOnly && !ctx.sandbox) throw refuse.invalid({ type: ['value_is_invalid'] });
  refuseFieldsOfOthers(type, body);
  refuseMissing(type, body);
  refuseMalformed(ctx, type, body);
  const made = madeSecrets(type, body);
  const sent = givenOf(type, body);
  const given = { ...sent, secrets: { ...sent.secrets, ...made } };
  if (type.open) await refuseRealMoneyInSandbox(ctx, type, given);
  if (body.code === RESERVED_CODE) throw refuse.invalid({ code: ['value_is_invalid'] });
  if (await isProviderCodeTaken(ctx, body.code)) throw refuse.invalid({ code: ['value_already_exist'] });
  const id = ctx.asked?.recordId ?? newId();
  const checked = ctx.asked?.answer as Checked | undefined;
  demandKeyFor(ctx, given.secrets);
  const sealed = await sealSecrets(ctx, id, given.secrets);
  await insertProvider(ctx, body, {
    id,
    ...sealed,
    settings: given.settings,
    emulates: type.appearsAs ? (body.emulates ?? type.appearsAs) : null,
    isLive: checked?.isLive ?? type.isLive(given) ?? null,
    status: type.open && !checked ? 'unverified' : 'connected',
    isChecked: checked !== undefined,
    owesInbound: registers(type, given),
  });
  const provider = await readShownProvider(ctx, id);
  if (type.open) connect(ctx, id);
  recordProvider(ctx, 'created', provider);
  return { payment_provider: { ...answer(ctx, provider).payment_provider, ...made } };
}

/**
 * Changes a connection: a new code is the customers' code too; of a new secret the provider was asked before.
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
  if (newCode === RESERVED_CODE && stored.code !== newCode) throw refuse.invalid({ code: ['value_is_invalid'] });
  if (newCode !== stored.code && (await isProviderCodeTaken(ctx, newCode)))
    throw refuse.invalid({ code: ['value_already_exist'] });
  const type = descriptorOf(stored.provider_type)!;
  refuseFieldsOfOthers(type, body);
  refuseMalformed(ctx, type, body);
  const given = { secrets: secretsOf(type, body), settings: { ...stored.settings, ...settingsOf(type, body) } };
  refuseLiveAccountInSandbox(ctx, type, given);
  demandKeyFor(ctx, given.secrets);
  const sealed = await sealSecrets(ctx, stored.id, given.secrets);
  const hasNewSecret = type.secrets.some(({ name }) => name in given.secrets);
  const isElsewhere = type.settings.some(
    ({ name, isAddress, selectsAccount }) =>
      (isAddress || selectsAccount) && given.settings[name] !== stored.settings[name],
  );
  const isToBeTried = type.open !== undefined && (hasNewSecret || isElsewhere);
  const isMoved = isToBeTried || (type.open !== undefined && newCode !== stored.code);
  const checked = ctx.asked?.answer as Checked | undefined;
  await updateProviderRow(ctx, stored, {
    given: body,
    kept: {
      ...sealed,
      settings: given.settings,
      isLive: checked?.isLive ?? type.isLive(given) ?? stored.live,
      status: statusAfter(stored, { hasNewSecret: isToBeTried, checked }),
      isChecked: checked !== undefined,
      owesInbound: isMoved && registers(type, given),
    },
  });
  if (newCode !== stored.code) await renameOfCustomers(ctx, stored.id, newCode);
  if (changesPages(type, stored, given.settings))
    await announce(ctx, pagesOfProviderOutdated, { payment_provider_id: stored.id });
  if (isMoved) connect(ctx, stored.id);
  const changed = await readShownProvider(ctx, stored.id);
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

const statusAfter = (
  stored: ProviderRow,
  { hasNewSecret, checked }: { hasNewSecret: boolean; checked: Checked | undefined },
): ProviderRow['status'] => {
  if (checked) return 'connected';
  return hasNewSecret ? 'unverified' : stored.status;
};

/**
 * Stores that the provider accepts the credentials of a connection. One that it refused does not come here: its caller
 * has the provider's text, and the connection fails. @throws Refusal 404 payment_provider
 */
export async function checkProvider(ctx: Context, { code }: { code: string }) {
  const provider = await getProvider(ctx, code);
  const checked = ctx.asked?.answer as Checked | undefined;
  if (checked) await setConnectionStatus(ctx, provider, { status: 'connected', error: null, isLive: checked.isLive });
  if (provider.inbound_owed_at !== null) connect(ctx, provider.id);
  return answer(ctx, await getProvider(ctx, code));
}

/**
 * A sandbox cannot use an account that really charges, and with simulated time no account at all: simulated days would
 * become real calls within seconds. Rule: provider-connections.md#sandboxes-reach-no-live-account.
 */
async function refuseRealMoneyInSandbox(ctx: Context, type: ProviderDescriptor, given: Given): Promise<void> {
  refuseLiveAccountInSandbox(ctx, type, given);
  if (!ctx.sandbox) return;
  await lockClockCreation(ctx);
  const clocks = await ctx.db`select from test_clocks where organization_id = ${ctx.organizationId}`;
  if (clocks.length > 0) throw refuse.invalid({ type: ['value_is_invalid'] });
}

function refuseLiveAccountInSandbox(ctx: Context, type: ProviderDescriptor, given: Given): void {
  if (ctx.sandbox && type.isLive(given)) throw refuse.invalid({ [type.liveField]: [LIVE_KEY_IN_SANDBOX] });
}

/** Open pages are closed because they were made by the former settings. Rule: provider-connections.md#routes. */
const changesPages = (type: ProviderDescriptor, { settings }: ProviderRow, now: Given['settings']): boolean =>
  type.settings.some(({ name, isOnPages }) => isOnPages && (settings[name] ?? false) !== (now[name] ?? false));

const connect = (ctx: Context, id: string): void =>
  ctx.after({ nudge: CONNECT_JOB, payload: { payment_provider_id: id } });

const answer = (ctx: Context, provider: ShownProviderRow) => ({
  payment_provider: providerView(provider, ctx.config, ctx.organizationId),
});

/** A field of which only the table of types knows the name. */
const sentValue = (body: object, name: string): unknown => (body as Record<string, unknown>)[name];

/** A secret or setting that only other types have would have no effect. Rule: provider-connections.md#types. */
function refuseFieldsOfOthers(type: ProviderDescriptor, body: ProviderUpdate): void {
  const own = new Set([...type.secrets, ...type.settings].map(({ name }) => name));
  const strange = PROVIDERS.flatMap(({ secrets, settings }) => [...secrets, ...settings])
    .map(({ name }) => name)
    .filter((name) => !own.has(name) && (sentValue(body, name) ?? undefined) !== undefined);
  if (!type.appearsAs && body.emulates !== undefined) strange.push('emulates');
  if (strange.length > 0) throw refuse.invalid(Object.fromEntries(strange.map((name) => [name, ['value_is_invalid']])));
}

function refuseMissing(type: ProviderDescriptor, body: ProviderCreate): void {
  const isMissing = (value: unknown) => value === undefined || value === null || String(value).trim() === '';
  const missing = [...type.secrets, ...type.settings].filter(
    ({ name, isMandatory }) => isMandatory && isMissing(sentValue(body, name)),
  );
  if (missing.length > 0)
    throw refuse.invalid(Object.fromEntries(missing.map(({ name }) => [name, ['value_is_mandatory']])));
}

/** What a body gives a connection of this type. */
export const givenOf = (type: ProviderDescriptor, body: ProviderUpdate): Given => ({
  secrets: secretsOf(type, body),
  settings: settingsOf(type, body),
});

const NETWORK_SECRETS = PROVIDERS.filter(({ open }) => open).flatMap(({ secrets }) => secrets.map(({ name }) => name));

/** Whether a body has a secret of a provider over the network, which has to accept it. */
export const hasNetworkSecret = (body: ProviderUpdate): boolean =>
  NETWORK_SECRETS.some((name) => String(sentValue(body, name) ?? '').trim() !== '');

/** Whether our address for events is to be registered at the provider. */
const registers = (type: ProviderDescriptor, { settings }: Given): boolean =>
  type.open !== undefined && type.capabilities({ settings, emulates: null }).includes('register_inbound');

/** An address that may not be called, and a secret that nobody could sign with. */
function refuseMalformed({ config }: Context, type: ProviderDescriptor, body: ProviderUpdate): void {
  const codes: Record<string, string[]> = {};
  for (const { name, isAddress } of type.settings) {
    const url = sentValue(body, name);
    if (isAddress && typeof url === 'string' && !mayCall(url, config)) codes[name] = ['url_is_invalid'];
  }
  for (const [name, text] of Object.entries(secretsOf(type, body)))
    if (type.secrets.some((field) => field.name === name && field.pattern && !field.pattern.test(text)))
      codes[name] = ['value_is_invalid'];
  if (Object.keys(codes).length > 0) throw refuse.invalid(codes);
}

/** Secrets that are made here because the client sent none: shown in this answer alone. */
function madeSecrets(type: ProviderDescriptor, body: ProviderCreate): Record<string, string> {
  const sent = secretsOf(type, body);
  return Object.fromEntries(
    type.secrets.flatMap(({ name, make }) => (make && sent[name] === undefined ? [[name, make()]] : [])),
  );
}

const secretsOf = (type: ProviderDescriptor, body: ProviderUpdate): Record<string, string> =>
  Object.fromEntries(
    type.secrets
      .map(({ name }) => [name, String(sentValue(body, name) ?? '').trim()] as const)
      .filter(([, text]) => text !== ''),
  );

const settingsOf = (type: ProviderDescriptor, body: ProviderUpdate): Record<string, unknown> =>
  Object.fromEntries(
    type.settings.map(({ name }) => [name, sentValue(body, name)] as const).filter(([, value]) => value !== undefined),
  );
