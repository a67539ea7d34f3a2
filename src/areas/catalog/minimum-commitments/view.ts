import { Temporal } from 'temporal-polyfill';
import type { Interval } from '../../../engine/calendar/grid.ts';
import { present, seconds } from '../../../platform/schema/view.ts';
import type { TaxRow } from '../taxes/queries.ts';
import { taxView } from '../taxes/view.ts';
import type { CommitmentJson } from './queries.ts';
import type { CommitmentView } from './schema.ts';

/** The minimum commitment of a plan as the plan shows it. */
export const commitmentView = (
  commitment: CommitmentJson,
  plan: { code: string; interval: Interval },
  taxes: readonly TaxRow[],
): CommitmentView => ({
  svc_id: commitment.id,
  plan_code: plan.code,
  amount_cents: commitment.amount_cents,
  ...present({ invoice_display_name: commitment.invoice_display_name }),
  interval: plan.interval,
  created_at: seconds(Temporal.Instant.from(commitment.created_at)),
  updated_at: seconds(Temporal.Instant.from(commitment.updated_at)),
  taxes: taxes.map(taxView),
});
