import type { Config } from '../../../platform/config.ts';
import { TooManyCalls } from '../../../platform/payments/port.ts';
import { type ProviderCalls, TurnTooLate, WAITED_MOST_MS } from '../../../platform/payments/provider-calls.ts';
import { ASKING_MOST_MS, type AskingCommand } from '../../../platform/pre-step.ts';
import type { SystemDeps } from '../../../platform/records/system-transaction.ts';
import { refuse } from '../../../platform/refusal.ts';
import { anrokEngine } from '../../../platform/taxes/anrok.ts';
import { bringsAccessPoint, triedAccessPoint } from './access-points.ts';
import { CALLS_PER_SECOND } from './engine.ts';
import { findIntegration } from './queries.ts';

/** Whether a request brings a key that has to be tried. */
export const bringsKey = (input: object): boolean =>
  apiKeyOf(input) !== undefined || bringsAccessPoint((input as { body?: object }).body ?? {});

function apiKeyOf(input: object): string | undefined {
  const { body } = input as { body?: { api_key?: string | null } };
  return body?.api_key?.trim() || undefined;
}

/**
 * Pre-step of creating and changing a connection: tries the key that it brings. An engine out of reach leaves the
 * connection `unverified`; the double of sandboxes is not asked.
 *
 * @throws Later, when it is not yet the turn of this call; TooManyCalls, when that comes too late for who waits
 * @throws Refusal 422 third_party_error, when the key is refused there
 * Rules: everywhere.md#asking-first, integrations.md#status.
 */
export async function askAboutKey(
  deps: SystemDeps & { calls?: ProviderCalls },
  { input, organizationId, sandbox }: AskingCommand,
): Promise<object | undefined> {
  if (sandbox || !bringsKey(input)) return undefined;
  const { code } = input as { code?: string };
  const changed = code === undefined ? undefined : await findIntegration({ db: deps.sql, organizationId }, code);
  const type = changed?.integration_type ?? (input as { body: { type?: string } }).body.type;
  const apiKey = apiKeyOf(input);
  if (type !== 'e_invoicing' && apiKey === undefined) return undefined;
  // A connection that is made has no pace yet, so the organization has one for all that it makes.
  if (deps.calls) await takeTurn(deps.calls, changed?.id ?? organizationId);
  if (type === 'e_invoicing') return triedAccessPoint(deps, (input as { body: object }).body, changed);
  return tried(deps.config, apiKey!);
}

async function takeTurn(calls: ProviderCalls, paceId: string): Promise<void> {
  try {
    await calls.takeTurn(paceId, CALLS_PER_SECOND, WAITED_MOST_MS);
  } catch (error) {
    throw error instanceof TurnTooLate ? new TooManyCalls('anrok', error, error.delayMs) : error;
  }
}

async function tried(config: Config, apiKey: string): Promise<object | undefined> {
  const outcome = await anrokEngine({ apiKey, apiUrl: config.ANROK_API_URL }).check(ASKING_MOST_MS);
  if (outcome.kind === 'refused') throw refuse.thirdParty('anrok', outcome.fault.message);
  return outcome.kind === 'answered' ? { isChecked: true } : undefined;
}
