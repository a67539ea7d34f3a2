/** Bounds of the days for which a class of rows is kept; `default` null = for ever, a word = a setting. */
interface RetentionClass {
  default: number | null | 'audit_logs_period' | 'webhook_events_period' | 'events_raw_days';
  min: number;
  /** Absent if the class may be kept for ever. */
  max?: number;
  /** Set if no job deletes such rows yet, so that other days cannot be chosen. */
  isFixed?: true;
}

/** Classes of rows and how long they are kept. Rule: retention.md. */
export const RETENTION_CLASSES = {
  issued_documents: { default: 3650, min: 3650, isFixed: true },
  ledger: { default: null, min: 3650, isFixed: true },
  events_raw: { default: 'events_raw_days', min: 90 },
  api_logs: { default: 'audit_logs_period', min: 1, max: 3650 },
  activity_logs: { default: 'audit_logs_period', min: 1, max: 3650 },
  security_logs: { default: 90, min: 7, max: 400 },
  webhook_deliveries: { default: 90, min: 7, max: 400 },
  inbound_events: { default: 90, min: 7, max: 400 },
  webhook_events: { default: 'webhook_events_period', min: 7, max: 400, isFixed: true },
  simulations: { default: 30, min: 1, max: 400, isFixed: true },
  dead_letters: { default: 30, min: 1, max: 400, isFixed: true },
  unmatched_events: { default: 30, min: 1, max: 400 },
  verifications: { default: 400, min: 30, max: 3650 },
  budgets: { default: 100, min: 30, max: 3650 },
  ai_usage_hours: { default: 400, min: 30, max: 3650 },
  mails: { default: 400, min: 90, max: 3650 },
  event_volumes: { default: 400, min: 60, max: 3650 },
  wallet_days: { default: 400, min: 30, max: 3650 },
  webhook_hours: { default: 30, min: 7, max: 400 },
} as const satisfies Record<string, RetentionClass>;

export type RetentionClassName = keyof typeof RETENTION_CLASSES;
export const RETENTION_CLASS_NAMES = Object.keys(RETENTION_CLASSES) as RetentionClassName[];

export const classOf = (name: RetentionClassName): RetentionClass => RETENTION_CLASSES[name];
