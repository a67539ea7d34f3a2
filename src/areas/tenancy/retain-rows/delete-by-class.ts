import type { Temporal } from 'temporal-polyfill';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Sql } from '../../../platform/db/connect.ts';
import type { SweepJob } from '../../../platform/periodic-job.ts';
import { removeOldEvents } from '../../usage/event-retention/remove-old-events.ts';
import { RETENTION_CLASSES } from '../retention/retention-classes.ts';
import { deleteBudgetHolds, deleteEndedWindows, openBudgetWindows } from './delete-old-budgets.ts';
import {
  deleteDeliveries,
  deleteEventVolumes,
  deleteInboundEvents,
  deleteMails,
  deleteMailTexts,
  deleteUnmatchedEvents,
  deleteVerifications,
  deleteWalletDays,
  deleteWebhookHours,
  HOURS_OF_A_DAY,
  listDays,
  type Selection,
} from './delete-old-rows.ts';
import { foldUsageHours } from './fold-old-hours.ts';

const BATCH = 5000;
/** What a mail said is forgotten before that it was sent. */
const MAIL_TEXT_DAYS = 90;

type Delete = (sql: Sql, selection: Selection, limit: number) => Promise<{ count: number }>;

/**
 * How rows of a class are deleted. For a class whose default is handled by its own job, only organizations with a rule
 * are examined (`usual` null); logs are dropped by partition (housekeeping).
 */
const CLASSES: readonly { name: Selection['name']; usual: number | null; remove: Delete }[] = [
  { name: 'webhook_deliveries', usual: null, remove: deleteDeliveries },
  { name: 'inbound_events', usual: null, remove: deleteInboundEvents },
  { name: 'unmatched_events', usual: RETENTION_CLASSES.unmatched_events.default, remove: deleteUnmatchedEvents },
  { name: 'verifications', usual: RETENTION_CLASSES.verifications.default, remove: deleteVerifications },
  { name: 'ai_usage_hours', usual: RETENTION_CLASSES.ai_usage_hours.default, remove: foldUsageHours },
  { name: 'mails', usual: RETENTION_CLASSES.mails.default, remove: deleteMails },
  { name: 'event_volumes', usual: RETENTION_CLASSES.event_volumes.default, remove: deleteEventVolumes },
  { name: 'wallet_days', usual: RETENTION_CLASSES.wallet_days.default, remove: deleteWalletDays },
  { name: 'webhook_hours', usual: RETENTION_CLASSES.webhook_hours.default, remove: deleteWebhookHours },
  // In this order: of a window goes first what points to it.
  ...[deleteBudgetHolds, openBudgetWindows, deleteEndedWindows].map((remove) => ({
    name: 'budgets' as const,
    usual: RETENTION_CLASSES.budgets.default,
    remove,
  })),
];

/** Deletes rows and raw events that are older than their organization keeps them, in real time. Rule: retention.md. */
export const retention: SweepJob = {
  name: 'retention',
  async sweep(deps, _at, hold) {
    const { sql } = deps;
    const now = realNow();
    for (const { name, usual, remove } of CLASSES) {
      for (const days of await listDays(sql, name, usual)) {
        const selection = { name, usual, days, before: daysBefore(now, days) };
        do await hold?.();
        while ((await remove(sql, selection, BATCH)).count === BATCH);
      }
    }
    do await hold?.();
    while ((await deleteMailTexts(sql, daysBefore(now, MAIL_TEXT_DAYS), BATCH)).count === BATCH);
    await removeOldEvents(deps, now, hold);
  },
};

const daysBefore = (now: Temporal.Instant, days: number): Temporal.Instant =>
  now.subtract({ hours: HOURS_OF_A_DAY * days });
