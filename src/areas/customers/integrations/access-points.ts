import { setTimeout as wait } from 'node:timers/promises';
import type { Config } from '../../../platform/config.ts';
import type { Context } from '../../../platform/context.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { mayCall } from '../../../platform/http/may-call.ts';
import type { IntegrationId, OrganizationId } from '../../../platform/ids.ts';
import { ASKING_MOST_MS } from '../../../platform/pre-step.ts';
import type { SystemDeps } from '../../../platform/records/system-transaction.ts';
import { refuse } from '../../../platform/refusal.ts';
import { customSender } from '../../../platform/senders/custom.ts';
import type { Sender, SendOutcome } from '../../../platform/senders/port.ts';
import { sandboxSender } from '../../../platform/senders/sandbox.ts';
import { findIntegrationById, type IntegrationRow } from './queries.ts';
import type { IntegrationType } from './schema.ts';
import { readSharedSecret, type SealedKey, sealSharedSecret } from './secrets.ts';

interface Given {
  api_key?: string | null | undefined;
  endpoint_url?: string | null | undefined;
  shared_secret?: string | null | undefined;
}

/** What a connection to an access point stores. */
interface AccessPoint {
  settings: Record<string, unknown>;
  /** Whether its address or its secret is another one. */
  isChanged: boolean;
  sealed(id: IntegrationId): Promise<SealedKey>;
}

/** Whether a request names the address or the secret of an access point. */
export const bringsAccessPoint = ({ endpoint_url, shared_secret }: Given): boolean =>
  Boolean(endpoint_url?.trim() || shared_secret?.trim());

/**
 * What a connection of the type `e_invoicing` stores; undefined for every other type. In a sandbox it is the double,
 * which has no address and no secret.
 *
 * @throws Refusal 422 endpoint_url, shared_secret or api_key value_must_be_blank, where the type or the sandbox has no
 *   such field; value_is_mandatory, where it is missing; endpoint_url value_is_invalid, of an address that may not be
 *   called
 * Rule: integrations.md#access-points.
 */
export function accessPointOf(
  ctx: Context,
  type: IntegrationType,
  given: Given,
  stored?: IntegrationRow,
): AccessPoint | undefined {
  const url = given.endpoint_url?.trim() || undefined;
  const secret = given.shared_secret?.trim() || undefined;
  if (type !== 'e_invoicing') {
    refuseFields({ endpoint_url: url, shared_secret: secret });
    return undefined;
  }
  refuseFields({ api_key: given.api_key?.trim() || undefined });
  if (ctx.sandbox) {
    refuseFields({ endpoint_url: url, shared_secret: secret });
    return { settings: { driver: 'sandbox' }, isChanged: false, sealed: (id) => sealSharedSecret(ctx, id, undefined) };
  }
  const missing = {
    ...(url || stored ? {} : { endpoint_url: ['value_is_mandatory'] }),
    ...(secret || stored ? {} : { shared_secret: ['value_is_mandatory'] }),
  };
  if (Object.keys(missing).length > 0) throw refuse.invalid(missing);
  if (url && !mayCall(url, ctx.config)) throw refuse.invalid({ endpoint_url: ['value_is_invalid'] });
  return {
    settings: { driver: 'custom', endpoint_url: url ?? stored?.settings.endpoint_url },
    isChanged: url !== undefined || secret !== undefined,
    sealed: (id) => sealSharedSecret(ctx, id, secret),
  };
}

function refuseFields(fields: Record<string, string | undefined>): void {
  const named = Object.keys(fields).filter((name) => fields[name] !== undefined);
  if (named.length > 0) throw refuse.invalid(Object.fromEntries(named.map((name) => [name, ['value_must_be_blank']])));
}

/**
 * The access point of a connection; undefined for a connection to something else, for a deleted one, and where its
 * secret is gone. In a sandbox it is always the double: a row that was changed by hand reaches nobody.
 */
export async function senderOf(
  { db, config }: { db: Db; config: Config },
  organization: { id: OrganizationId; sandbox: boolean },
  integrationId: IntegrationId,
): Promise<Sender | undefined> {
  const row = await findIntegrationById({ db, organizationId: organization.id }, integrationId);
  if (row?.category !== 'e_invoicing' || row.deleted_at !== null) return undefined;
  if (organization.sandbox) return sandboxSender();
  const secret = await readSharedSecret({ db, config }, row);
  return secret === undefined ? undefined : openSender(row, secret, config);
}

const openSender = (
  { code, settings, live }: Pick<IntegrationRow, 'code' | 'settings' | 'live'>,
  secret: string,
  config: Config,
): Sender =>
  customSender({ endpointUrl: String(settings.endpoint_url), secret, connection: code, isLive: live }, config);

/**
 * Tries an access point before its address or secret is stored; one that does not answer in time leaves the connection
 * unverified.
 *
 * @throws Refusal 422 third_party_error, when it refuses the secret
 */
export async function triedAccessPoint(
  { sql: db, config }: SystemDeps,
  given: Given,
  stored: IntegrationRow | undefined,
): Promise<object | undefined> {
  const url = given.endpoint_url?.trim() || (stored?.settings.endpoint_url as string | undefined);
  const secret = given.shared_secret?.trim() || (stored && (await readSharedSecret({ db, config }, stored)));
  if (!url || !secret || !mayCall(url, config)) return undefined;
  const code = stored?.code ?? 'check';
  const sender = openSender({ code, settings: { endpoint_url: url }, live: true }, secret, config);
  const late = new AbortController();
  const outcome = await Promise.race<SendOutcome<null> | undefined>([
    sender.check(),
    wait(ASKING_MOST_MS, undefined, { signal: late.signal }).catch(() => undefined),
  ]);
  late.abort();
  if (outcome?.kind === 'refused') throw refuse.thirdParty('e_invoicing', outcome.fault.message);
  return outcome?.kind === 'answered' ? { isChecked: true } : undefined;
}
