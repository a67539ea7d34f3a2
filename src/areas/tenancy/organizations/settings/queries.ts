import type { Temporal } from 'temporal-polyfill';
import { assert } from '../../../../engine/assert.ts';
import type { Db } from '../../../../platform/db/connect.ts';
import type { Scope } from '../../../../platform/db/scope.ts';
import { json } from '../../../../platform/db/values.ts';
import type { Policy } from '../../../catalog/usage-policies/schema.ts';
import type { RateLimits } from '../own-rate-limits.ts';

export interface SettingsFields {
  /** Null uses the service's setting. */
  audit_logs_period_days: number | null;
  wallet_limit: number;
  hosted_page_wait_minutes: number;
  deny_when_overdue: boolean;
  usage_policies: { corrections?: Policy | null; late_events?: Policy | null } | null;
  /** Only those that were set. */
  ai_settings: Record<string, unknown>;
}

export interface SettingsRow extends SettingsFields {
  personal_properties: unknown[];
  /** Null if the organization has none of its own. */
  rate_limits: RateLimits;
}

const columns = (db: Db) => db`
  audit_logs_period_days, wallet_limit, usage_policies, hosted_page_wait_minutes, deny_when_overdue,
    personal_properties, ai_settings,
  jsonb_build_object('events', rate_limit_events, 'events_bulk', rate_limit_events_bulk, 'access', rate_limit_access,
    'current_usage', rate_limit_current_usage, 'budgets', rate_limit_budgets, 'default', rate_limit_default) as rate_limits`;

export async function readSettings({ db, organizationId }: Scope): Promise<SettingsRow> {
  const [row] = await db<SettingsRow[]>`select ${columns(db)} from organizations where id = ${organizationId}`;
  assert(row, 'the organization of a key exists');
  return row;
}

/** As readSettings, locked until the transaction ends. */
export async function lockSettings({ db, organizationId }: Scope): Promise<SettingsRow> {
  const [row] = await db<SettingsRow[]>`
    select ${columns(db)} from organizations where id = ${organizationId} for no key update`;
  assert(row, 'the organization of a key exists');
  return row;
}

export const updateSettingsRow = ({ db, organizationId }: Scope, row: SettingsFields, at: Temporal.Instant) => db`
  update organizations set audit_logs_period_days = ${row.audit_logs_period_days}, wallet_limit = ${row.wallet_limit},
    hosted_page_wait_minutes = ${row.hosted_page_wait_minutes}, deny_when_overdue = ${row.deny_when_overdue},
    usage_policies = ${json(row.usage_policies)}, ai_settings = ${json(row.ai_settings)}, updated_at = ${at}
  where id = ${organizationId}`;

/** Whether prices, or amounts of events with a code, stand in the currency of the book. */
export async function usesCurrency({ db, organizationId }: Scope, code: string): Promise<boolean> {
  const [row] = await db<{ found: boolean }[]>`
    select exists (select from price_entries where organization_id = ${organizationId})
      or exists (select from events where organization_id = ${organizationId} and code = ${code}
        and deleted_at is null) as found`;
  return row!.found;
}

/** How many active wallets a customer of the organization may have. */
export async function readWalletLimit({ db, organizationId }: Scope): Promise<number> {
  const [row] = await db<{ wallet_limit: number }[]>`
    select wallet_limit from organizations where id = ${organizationId}`;
  assert(row, 'the organization of a key exists');
  return row.wallet_limit;
}
