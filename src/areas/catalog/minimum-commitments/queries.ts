import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { CommitmentId } from '../../../platform/ids.ts';

/** The minimum commitment of a plan, as its row carries it. */
export interface CommitmentJson {
  id: CommitmentId;
  /** For one interval of the plan. */
  amount_cents: number;
  invoice_display_name: string | null;
  created_at: string;
  updated_at: string;
}

/**
 * The minimum commitment of the plan `plan` of a statement as JSON, null without one; `plan` is a table or its alias.
 */
export const commitmentOf = (db: Db, plan: string): Fragment => db`(
  select jsonb_build_object('id', commitment.id, 'amount_cents', commitment.amount_cents, 'invoice_display_name',
    commitment.invoice_display_name, 'created_at', commitment.created_at, 'updated_at', commitment.updated_at)
  from minimum_commitments commitment
  where commitment.organization_id = ${db(plan)}.organization_id and commitment.plan_id = ${db(plan)}.id)`;
