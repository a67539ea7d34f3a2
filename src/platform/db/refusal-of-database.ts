import postgres from 'postgres';
import { type Refusal, refuse } from '../refusal.ts';

/**
 * Unique violations that mean "this value is taken", by constraint name. A check in a command only gives a better
 * error; the constraint is the guarantee, and this is its error.
 */
const TAKEN: Record<string, string> = {
  customers_external_id_key: 'external_id',
  billable_metrics_code_key: 'code',
  plans_code_key: 'code',
  budgets_code_key: 'code',
  features_code_key: 'code',
  pricing_units_code_key: 'code',
  charges_code_key: 'code',
  taxes_code_key: 'code',
  add_ons_code_key: 'code',
  coupons_code_key: 'code',
  fixed_charges_code_key: 'code',
  billing_entities_code_key: 'code',
  organizations_slug_key: 'slug',
  webhook_endpoints_url_key: 'webhook_url',
  wallets_code_key: 'code',
  alerts_subscription_code_key: 'code',
  alerts_wallet_code_key: 'code',
  dunning_campaigns_code_key: 'code',
  payment_providers_code_key: 'code',
  integrations_account_key: 'api_key',
  integrations_access_point_key: 'type',
  e_document_transmissions_open_key: 'svc_id',
  integrations_code_key: 'code',
  integration_customers_category_key: 'integration_customers',
  invoice_custom_sections_code_key: 'code',
  privileges_code_key: 'privilege.code',
  subscriptions_active_key: 'external_id',
  subscriptions_incomplete_key: 'external_id',
};

/** Unique violations that mean "there may be only one", by constraint name, with the code of their 403. */
const ONLY_ONE: Record<string, string> = { quote_versions_alive_key: 'active_version_exists' };

// U+0000 and the like, if no schema checked them: untranslatable_character, character_not_in_repertoire.
const UNSTORABLE = new Set(['22P05', '22021']);

const UNIQUE_VIOLATION = '23505';

/** The refusal for a database error; undefined for an outage or a defect. */
export function refusalOfDatabase(error: unknown): Refusal | undefined {
  if (!(error instanceof postgres.PostgresError)) return undefined;
  const unique = error.code === UNIQUE_VIOLATION ? error.constraint_name : undefined;
  const field = unique && TAKEN[unique];
  if (field) return refuse.invalid({ [field]: ['value_already_exist'] });
  const code = unique && ONLY_ONE[unique];
  if (code) return refuse.forbidden(code);
  if (UNSTORABLE.has(error.code)) return refuse.invalid({ base: ['invalid_format'] });
  return undefined;
}

// Class 08 connection, 57P0x shutdown, 53 out of resources, 40 serialization and deadlock, 55P03 lock timeout, 25006
// read-only (a primary that was demoted, or one that an operator protects), 58030 the disk.
const PASSING = /^(08...|57P0.|53...|40001|40P01|55P03|25006|58030)$/;
const PASSING_DRIVER = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
]);

// The connection is gone, or leads to a server that is no longer, or not yet, the primary.
const LOST = /^(08...|57P0[123]|25006)$/;

/** Whether a statement gave up waiting for a lock (`lock_timeout`). */
export const isLockTimeout = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === '55P03';

/** Whether a statement was ended before it was done, by `statement_timeout` or by somebody. */
export const isCancelled = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === '57014';

/** Whether the same statement may succeed in a moment: the server is away, restarting, or chose it in a deadlock. */
export function isPassing(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code !== 'string') return false;
  return PASSING.test(code) || PASSING_DRIVER.has(code);
}

/**
 * Whether a connection to Postgres was lost, or leads to a server that takes no writes: what asked is right, and is to
 * be asked again of whoever is the primary then. Errors of other servers' sockets do not count.
 *
 * Rule: several-hosts.md#fail-over.
 */
export function isLostConnection(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || !isPassing(error)) return false;
  const { code } = error as { code: string };
  // The driver notes the statement that it could not send.
  return LOST.test(code) || (PASSING_DRIVER.has(code) && ('query' in error || /^CONNECT(ION)?_/.test(code)));
}
