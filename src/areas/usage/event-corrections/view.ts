import { period, shownEnd, shownStart } from '../../../engine/calendar/period.ts';
import { seconds, secondsOrNull } from '../../../platform/schema/view.ts';
import type { AdjustmentRow, CorrectionRow, VersionRow } from './queries.ts';
import type { AdjustmentView, CorrectionView } from './schema.ts';

/** A correction as the API shows it; lists leave the adjustments out. */
export const correctionView = (row: CorrectionRow, adjustments?: readonly AdjustmentRow[]): CorrectionView => ({
  svc_id: row.id,
  kind: row.kind,
  status: row.status,
  policy: row.policy,
  credit_note_part: row.credit_note_part,
  reason: row.reason,
  dry_run: row.dry_run,
  external_subscription_id: row.external_subscription_id,
  transaction_id: row.transaction_id,
  input: row.input,
  svc_api_key_id: row.api_key_id,
  events_count: row.total,
  draft_invoices_count: row.draft_invoices_count,
  invoices_count: row.invoices_count,
  progress: {
    done: row.done,
    total: row.total,
    percent: row.total === 0 ? 0 : Math.floor((100 * row.done) / row.total),
  },
  error: row.error,
  created_at: seconds(row.created_at),
  started_at: secondsOrNull(row.started_at),
  finished_at: secondsOrNull(row.finished_at),
  ...(adjustments ? { adjustments: adjustments.map(adjustmentView) } : {}),
});

export const adjustmentView = (row: AdjustmentRow): AdjustmentView => ({
  svc_id: row.id,
  svc_invoice_id: row.invoice_id,
  svc_fee_id: row.fee_id,
  svc_charge_id: row.charge_id,
  svc_charge_filter_id: row.charge_filter_id,
  grouped_by: row.grouped_by,
  ...shownWindow(row),
  old_amount_cents: row.old_amount_cents,
  new_amount_cents: row.new_amount_cents,
  delta_amount_cents: row.delta_amount_cents,
  left_amount_cents: row.left_amount_cents,
  booked_as: row.booked_as,
  svc_new_fee_id: row.new_fee_id,
  svc_credit_note_id: row.credit_note_id,
  uncreditable_amount_cents: row.uncreditable_amount_cents,
  late_events_left_out: row.late_events_left_out,
  warning: row.warning,
  created_at: seconds(row.created_at),
});

function shownWindow({ from_datetime: from, to_datetime: to }: AdjustmentRow) {
  if (!from || !to) return { from_datetime: null, to_datetime: null };
  const window = period(from, to);
  return { from_datetime: seconds(shownStart(window)), to_datetime: seconds(shownEnd(window)) };
}

/** JSON text of a state of an event: numbers in properties keep digits that a double cannot hold. */
export const versionText = (row: VersionRow): string => {
  const text = JSON.stringify({
    version: row.version,
    code: row.code,
    timestamp: `${row.timestamp.slice(0, 23)}Z`,
    precise_total_amount_cents: amountText(row.precise_total_amount_cents),
    valid_from: `${row.valid_from.slice(0, 19)}Z`,
    valid_to: row.valid_to === null ? null : `${row.valid_to.slice(0, 19)}Z`,
    svc_correction_id: row.correction_id,
    retracted: row.retracted,
  });
  return `${text.slice(0, -1)},"properties":${row.properties}}`;
};

/** Decimal text with at least one fractional digit (json.md). */
const amountText = (amount: string | null): string | null =>
  amount === null || amount.includes('.') ? amount : `${amount}.0`;
