import { AmountOutOfRange } from '../../../engine/money/cents.ts';
import { refuse } from '../../../platform/refusal.ts';

/** @throws Refusal 422 base: value_is_out_of_range, when no cents can hold an amount */
export async function inRange<Outcome>(work: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AmountOutOfRange)) throw error;
    throw refuse.invalid({ base: ['value_is_out_of_range'] });
  }
}
