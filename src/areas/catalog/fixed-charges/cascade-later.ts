import type { Context } from '../../../platform/context.ts';
import type { PlanId } from '../../../platform/ids.ts';
import type { StepPayload } from '../../../steps.ts';
import type { PreparedFixedCharge } from './prepare-fixed-charges.ts';
import type { FixedChargeRow } from './queries.ts';

const CASCADE_STEP = 'cascade-fixed-charges';

/** Payload of the step: what changed in a plan and is to change in its overrides. */
export type CascadeFixedChargesStep = StepPayload<typeof CASCADE_STEP>;

type Figures = NonNullable<CascadeFixedChargesStep['changes'][number]['former']>;

/** Owes the changes of a plan's fixed charges to its overrides. */
export function cascadeLater(
  ctx: Context,
  planId: PlanId,
  changed: { prepared: readonly PreparedFixedCharge[]; removedIds: readonly string[]; billsCopies: boolean },
): void {
  const payload: CascadeFixedChargesStep = {
    plan_id: planId,
    changes: changed.prepared.map(({ fixedCharge, former, isImmediate }) => ({
      id: fixedCharge.id,
      former: former === undefined ? null : figuresOf(former),
      is_immediate: isImmediate,
    })),
    removed_ids: [...changed.removedIds],
    bills: changed.billsCopies,
  };
  ctx.after({ step: CASCADE_STEP, payload });
}

const figuresOf = ({ charge_model, units, properties }: FixedChargeRow): Figures => ({
  charge_model,
  units: units.toFixed(),
  properties,
});
