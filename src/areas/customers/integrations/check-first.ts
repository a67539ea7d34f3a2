import type { Config } from '../../../platform/config.ts';
import { ASKING_MOST_MS, type AskingCommand } from '../../../platform/pre-step.ts';
import type { SystemDeps } from '../../../platform/records/system-transaction.ts';
import { refuse } from '../../../platform/refusal.ts';
import { anrokEngine } from '../../../platform/taxes/anrok.ts';

/** Whether a request brings a key that has to be tried. */
export const bringsKey = (input: object): boolean => apiKeyOf(input) !== undefined;

function apiKeyOf(input: object): string | undefined {
  const { body } = input as { body?: { api_key?: string | null } };
  return body?.api_key?.trim() || undefined;
}

/**
 * Pre-step of creating and changing a connection: tries the key that it brings. An engine out of reach leaves the
 * connection `unverified`; the double of sandboxes is not asked.
 *
 * @throws Refusal 422 third_party_error, when the key is refused there
 * Rules: everywhere.md#asking-first, integrations.md#status.
 */
export async function askAboutKey(deps: SystemDeps, command: AskingCommand): Promise<object | undefined> {
  const apiKey = apiKeyOf(command.input);
  return command.sandbox || apiKey === undefined ? undefined : tried(deps.config, apiKey);
}

async function tried(config: Config, apiKey: string): Promise<object | undefined> {
  const outcome = await anrokEngine({ apiKey, apiUrl: config.ANROK_API_URL }).check(ASKING_MOST_MS);
  if (outcome.kind === 'refused') throw refuse.thirdParty('anrok', outcome.fault.message);
  return outcome.kind === 'answered' ? { isChecked: true } : undefined;
}
