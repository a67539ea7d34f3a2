import { type Currency, exponentOf } from '../../../engine/money/currency.ts';
import { decimal, decimalText } from '../../../engine/money/decimal.ts';
import { usageFee } from '../../../engine/pricing/usage-fee.ts';
import { validateProperties } from '../../../engine/pricing/validate-properties.ts';
import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { ChargeEstimate, ChargeEstimateEnvelope } from './schema.ts';

/**
 * What numbers of units would cost under a charge that is stored nowhere, by the function that prices invoices.
 *
 * @throws Refusal 422 properties: the codes that a plan is refused with
 * Rule: console-reads.md#charge-estimates.
 */
export async function estimateCharge(
  _ctx: Context,
  { body }: { body: ChargeEstimate },
): Promise<ChargeEstimateEnvelope> {
  const { charge_model, currency, units, events_count } = body;
  const validated = validateProperties(charge_model, body.properties ?? {});
  if (!validated.ok) throw refuse.invalid({ properties: [...validated.codes] });
  const exponent = exponentOf(currency as Currency);
  return {
    charge_estimate: {
      results: units.map((text) => {
        const fee = usageFee({
          charge_model,
          properties: validated.properties,
          usage: { units: decimal(text), eventsCount: events_count ?? 1 },
          metric: { rounding_function: null, rounding_precision: null },
          exponent,
        });
        return {
          units: decimalText(fee.units),
          amount_cents: fee.amountCents,
          precise_amount_cents: decimalText(fee.preciseAmountCents),
          unit_amount: decimalText(fee.preciseUnitAmount),
          amount_details: { ...fee.amountDetails },
        };
      }),
    },
  };
}
