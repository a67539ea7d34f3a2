import type { Currency } from '../../../engine/money/currency.ts';
import { decimal, decimalText } from '../../../engine/money/decimal.ts';
import type { Properties } from '../../../engine/pricing/charge-model.ts';
import { conversionFaults } from '../../../engine/pricing/dynamic.ts';
import { estimateFee } from '../../../engine/pricing/estimate-fee.ts';
import { isPriced } from '../../../engine/pricing/price.ts';
import { validateProperties } from '../../../engine/pricing/validate-properties.ts';
import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import { refuseFaults } from '../../../platform/schema/faults.ts';
import type { ChargeEstimate, ChargeEstimateEnvelope } from './schema.ts';

/**
 * What numbers of units would cost under a charge that is stored nowhere, by the function that prices invoices.
 *
 * @throws Refusal 422 charge_model, properties: the codes that a plan is refused with
 * Rule: console-reads.md#charge-estimates.
 */
export async function estimateCharge(
  _ctx: Context,
  { body }: { body: ChargeEstimate },
): Promise<ChargeEstimateEnvelope> {
  const charge = { model: body.charge_model, properties: validProperties(body), currency: body.currency as Currency };
  const eventAmount = body.precise_total_amount_cents;
  return {
    charge_estimate: {
      results: body.units.map((units) => {
        const fee = estimateFee(charge, {
          units: decimal(units),
          eventsCount: body.events_count ?? 1,
          eventAmountCents: eventAmount ? decimal(eventAmount) : undefined,
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

function validProperties({ charge_model: model, properties, currency }: ChargeEstimate): Properties {
  if (!isPriced(model)) throw refuse.invalid({ charge_model: ['unsupported_value'] });
  const validated = validateProperties(model, properties ?? {});
  if (!validated.ok) throw refuse.invalid({ properties: [...validated.codes] });
  const { properties: stored } = validated;
  if (model === 'dynamic') refuseFaults(conversionFaults(stored, { currency, hasPricingUnit: false }));
  return stored;
}
