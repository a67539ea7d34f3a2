import type { Config } from '../../../../platform/config.ts';
import { aiSettingsView } from './ai-settings.ts';
import type { SettingsRow } from './queries.ts';
import type { SettingsView } from './schema.ts';

/** Effective settings: the organization's own, else the service's. */
export const settingsView = (row: SettingsRow, config: Config): SettingsView => ({
  audit_logs_period: row.audit_logs_period_days ?? config.AUDIT_LOGS_PERIOD_DAYS,
  wallet_limit: row.wallet_limit,
  hosted_page_wait_minutes: row.hosted_page_wait_minutes,
  deny_when_overdue: row.deny_when_overdue,
  usage_policies: row.usage_policies && {
    corrections: row.usage_policies.corrections ?? null,
    late_events: row.usage_policies.late_events ?? null,
  },
  personal_properties: row.personal_properties,
  rate_limits: {
    events: row.rate_limits.events ?? config.RATE_LIMIT_EVENTS,
    events_bulk: row.rate_limits.events_bulk ?? config.RATE_LIMIT_EVENTS_BULK,
    current_usage: row.rate_limits.current_usage ?? config.RATE_LIMIT_CURRENT_USAGE,
    access: row.rate_limits.access ?? config.RATE_LIMIT_ACCESS,
    budgets: row.rate_limits.budgets ?? config.RATE_LIMIT_BUDGETS,
    default: row.rate_limits.default ?? config.RATE_LIMIT_DEFAULT,
  },
  ai: aiSettingsView(row.ai_settings),
});
