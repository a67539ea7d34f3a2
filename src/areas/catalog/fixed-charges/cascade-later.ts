import type { Properties } from '../../../engine/pricing/charge-model.ts';
import type { Context } from '../../../platform/context.ts';
import type { PreparedFixedCharge } from './prepare.ts';
import type { FixedChargeRow } from './queries.ts';

const CASCADE_STEP = 'cascade-fixed-charges';

interface Figures {
  charge_model: string;
  units: string;
  properties: Properties;
}

/** Payload of the step: what changed in a plan and is to change in its overrides. */
export interface CascadeFixedChargesStep {
  plan_id: string;
  changes: { id: string; former: Figures | null; is_immediate: boolean }[];
  removed_ids: string[];
  bills: boolean;
}

/** Leaves the changes of a plan's fixed charges to be made in its overrides. */
export function cascadeLater(
  ctx: Context,
  planId: string,
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
  ctx.after({ job: CASCADE_STEP, payload });
}

const figuresOf = ({ charge_model, units, properties }: FixedChargeRow): Figures => ({
  charge_model,
  units: units.toFixed(),
  properties,
});
