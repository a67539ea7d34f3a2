import type { Context } from '../../../platform/context.ts';
import type { IntegrationId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { announce } from '../../../platform/reactions.ts';
import { refuse } from '../../../platform/refusal.ts';
import { SANDBOX_TAX_KEY } from '../../../platform/taxes/sandbox.ts';
import { taxFactsChanged } from '../announcements.ts';
import { flagDraftsOfIntegration } from '../flag-drafts.ts';
import { accessPointOf } from './access-points.ts';
import { recordIntegration } from './announce.ts';
import { demandResources } from './mapped-resources.ts';
import {
  findAccessPoint,
  findConnectionOf,
  findIntegration,
  findIntegrationById,
  getIntegration,
  type IntegrationRow,
  listMappings,
} from './queries.ts';
import type { IntegrationCreate, IntegrationUpdate, MappingsUpdate } from './schema.ts';
import { sealApiKey } from './secrets.ts';
import { integrationView, mappingView } from './view.ts';
import { deleteIntegrationRow, insertIntegration, replaceMappings, updateIntegration } from './writes.ts';

/** Asks the other system whether the credentials of a connection work. */
export const CHECK_JOB = 'integration.check';

/**
 * Connects another system. The double of a sandbox works at once; of any other the key was tried before, and one that
 * could not be reached leaves the connection `unverified`.
 *
 * @throws Refusal 422 api_key, mandatory; in a sandbox any but that of the double (live_key_in_sandbox), elsewhere that
 *   of the double; secrets_key_missing, where no key seals it; value_already_exist, where a live connection reaches
 *   the same account; code value_already_exist; type value_already_exist, of a second access point; endpoint_url and
 *   shared_secret of an access point
 * Rules: integrations.md#routes, integrations.md#access-points.
 */
export async function createIntegration(ctx: Context, { body }: { body: IntegrationCreate }) {
  const apiKey = body.api_key?.trim();
  const accessPoint = accessPointOf(ctx, body.type, body);
  if (!accessPoint && !apiKey) throw refuse.invalid({ api_key: ['value_is_mandatory'] });
  if (apiKey) refuseWrongSide(ctx, apiKey);
  if (await findIntegration(ctx, body.code)) throw refuse.invalid({ code: ['value_already_exist'] });
  if (accessPoint && (await findAccessPoint(ctx))) throw refuse.invalid({ type: ['value_already_exist'] });
  const id = (ctx.asked?.recordId ?? newId()) as IntegrationId;
  const sealed = accessPoint ? await accessPoint.sealed(id) : await sealApiKey(ctx, id, apiKey);
  await refuseKnownAccount(ctx, sealed.account_fingerprint, null);
  const status = ctx.sandbox || isChecked(ctx) ? 'connected' : 'unverified';
  await insertIntegration(ctx, body, {
    id,
    settings: accessPoint?.settings ?? {},
    ...sealed,
    live: !ctx.sandbox,
    status,
  });
  if (status === 'unverified') check(ctx, id);
  const integration = (await findIntegrationById(ctx, id))!;
  recordIntegration(ctx, 'created', integration);
  return answer(ctx, integration);
}

/**
 * Changes a connection; a new key was tried like the first, and everything without an answer is asked again with it.
 *
 * @throws Refusal 404 integration; 422 type value_is_frozen; code value_already_exist; those of a key
 */
export async function changeIntegration(ctx: Context, { code, body }: { code: string; body: IntegrationUpdate }) {
  const stored = await getIntegration(ctx, code);
  if (body.type !== undefined && body.type !== stored.integration_type)
    throw refuse.invalid({ type: ['value_is_frozen'] });
  const newCode = body.code ?? stored.code;
  if (newCode !== stored.code && (await findIntegration(ctx, newCode)))
    throw refuse.invalid({ code: ['value_already_exist'] });
  const apiKey = body.api_key?.trim() || undefined;
  const accessPoint = accessPointOf(ctx, stored.integration_type, body, stored);
  if (apiKey !== undefined) refuseWrongSide(ctx, apiKey);
  const sealed = accessPoint ? await accessPoint.sealed(stored.id) : await sealApiKey(ctx, stored.id, apiKey);
  await refuseKnownAccount(ctx, sealed.account_fingerprint, stored.id);
  const isNewKey = (accessPoint ? accessPoint.isChanged : apiKey !== undefined) && !ctx.sandbox;
  const status = isNewKey ? (isChecked(ctx) ? 'connected' : 'unverified') : stored.status;
  const settings = accessPoint?.settings ?? stored.settings;
  await updateIntegration(ctx, stored, { settings, ...sealed, code: newCode, name: body.name ?? stored.name, status });
  if (isNewKey && status === 'unverified') check(ctx, stored.id);
  if (isNewKey) await announce(ctx, taxFactsChanged, { integration_id: stored.id });
  const changed = (await findIntegrationById(ctx, stored.id))!;
  recordIntegration(ctx, 'updated', changed, stored);
  return answer(ctx, changed);
}

/**
 * Ends a connection: its customers are no longer linked, and invoices that waited for it take our own rates, as drafts
 * do. What was taxed by it keeps its taxes.
 *
 * @throws Refusal 404 integration
 */
export async function deleteIntegration(ctx: Context, { code }: { code: string }) {
  const integration = await getIntegration(ctx, code);
  await flagDraftsOfIntegration(ctx, integration.id);
  await deleteIntegrationRow(ctx, integration.id);
  await announce(ctx, taxFactsChanged, { integration_id: integration.id });
  recordIntegration(ctx, 'deleted', integration);
  return answer(ctx, integration);
}

/** Tries the credentials of a connection again. @throws Refusal 404 integration */
export async function checkIntegration(ctx: Context, { code }: { code: string }) {
  const integration = await getIntegration(ctx, code);
  check(ctx, integration.id);
  return answer(ctx, integration);
}

/**
 * Replaces the names that another system has for what is sold: drafts are computed again, and everything without an
 * answer is asked again.
 *
 * @throws Refusal 404 integration, or the resource of a code; 422 mappings value_already_exist, when one is named twice
 * Rule: integrations.md#mappings.
 */
export async function replaceIntegrationMappings(ctx: Context, { code, body }: { code: string; body: MappingsUpdate }) {
  const integration = await getIntegration(ctx, code);
  const mappings = body.mappings.map(({ resource_type, resource_code, external_id, external_name }) => ({
    resource_type,
    resource_code: resource_type === 'default' ? '' : (resource_code ?? ''),
    external_id,
    external_name: external_name ?? null,
  }));
  const names = new Set(mappings.map(({ resource_type, resource_code }) => `${resource_type} ${resource_code}`));
  if (names.size < mappings.length) throw refuse.invalid({ mappings: ['value_already_exist'] });
  await demandResources(ctx, mappings);
  await replaceMappings(ctx, integration.id, mappings);
  await flagDraftsOfIntegration(ctx, integration.id);
  await announce(ctx, taxFactsChanged, { integration_id: integration.id });
  const { id: svc_id, integration_type: type } = integration;
  ctx.record({ security: { event: 'integration.updated', resources: { svc_id, type, code: integration.code } } });
  return { mappings: (await listMappings(ctx, integration.id)).map(mappingView) };
}

/** A sandbox reaches no account, and the double computes no real tax. Rule: integrations.md#routes. */
function refuseWrongSide(ctx: Context, apiKey: string): void {
  const isDouble = apiKey === SANDBOX_TAX_KEY;
  if (ctx.sandbox && !isDouble) throw refuse.invalid({ api_key: ['live_key_in_sandbox'] });
  if (!ctx.sandbox && isDouble) throw refuse.invalid({ api_key: ['value_is_invalid'] });
}

/**
 * An account has one live connection: of two, one takes back what the other records. Rule: integrations.md#accounts.
 */
async function refuseKnownAccount(
  ctx: Context,
  accountFingerprint: string | null | undefined,
  exceptId: IntegrationId | null,
): Promise<void> {
  if (accountFingerprint && (await findConnectionOf(ctx, accountFingerprint, exceptId)))
    throw refuse.invalid({ api_key: ['value_already_exist'] });
}

/** Whether the key of the request was accepted before; see check-first.ts. */
const isChecked = (ctx: Context): boolean => ctx.asked?.answer !== undefined;

function check(ctx: Context, id: IntegrationId): void {
  if (!ctx.sandbox) ctx.after({ nudge: CHECK_JOB, payload: { integration_id: id } });
}

const answer = (ctx: Context, integration: IntegrationRow) => ({ integration: integrationView(integration, ctx) });
