import type { Properties } from '../../../../engine/pricing/charge-model.ts';
import { validateProperties } from '../../../../engine/pricing/validate-properties.ts';
import type { ChargeShown } from '../../../catalog/charges/show-charges.ts';
import type { FixedChargeShown } from '../../../catalog/fixed-charges/show-fixed-charges.ts';
import { PlanOverrides } from '../../../catalog/plans/override-schema.ts';
import type { PlanShown } from '../../../catalog/plans/show-plans.ts';
import type { PlanItem, PlanTerms } from './item-types.ts';
import { addFault, type Faults } from './read-fields.ts';

/**
 * The changes that an item makes to its plan, as input of a subscription: charges are found by their metric, fixed
 * charges by their add-on.
 *
 * @returns undefined when nothing is changed, or something is wrong, which is noted below `path`
 * Rule: quotes.md#billing-items "overrides".
 */
export function planOverridesOf(
  { payload, overrides }: PlanItem,
  plan: PlanShown,
  path: string,
  faults: Faults,
): PlanOverrides | undefined {
  const { charges, fixedCharges, ...terms } = overrides ?? {};
  const given: Record<string, unknown> = { ...snakeTerms(terms) };
  if (charges?.length)
    given.charges = charges.map((change, index) =>
      chargeOverride(change, { payload, plan, path: `${path}.charges.${index}`, faults }),
    );
  if (fixedCharges?.length)
    given.fixed_charges = fixedCharges.map((change, index) =>
      fixedChargeOverride(change, { payload, plan, path: `${path}.fixedCharges.${index}`, faults }),
    );
  if (Object.keys(given).length === 0 || Object.keys(faults).some((field) => field.startsWith(`${path}.`)))
    return undefined;
  const parsed = PlanOverrides.safeParse(given);
  if (parsed.success) return parsed.data;
  for (const { path: where } of parsed.error.issues) addFault(faults, camelPath(path, where), 'invalid_value');
  return undefined;
}

const snakeTerms = (terms: Omit<PlanTerms, 'charges' | 'fixedCharges'>) =>
  definedOnly({
    name: terms.name,
    invoice_display_name: terms.invoiceDisplayName,
    description: terms.description,
    amount_cents: terms.amountCents,
    amount_currency: terms.amountCurrency,
    trial_period: terms.trialPeriod,
    minimum_commitment:
      terms.minimumCommitment &&
      definedOnly({
        amount_cents: terms.minimumCommitment.amountCents,
        invoice_display_name: terms.minimumCommitment.invoiceDisplayName,
      }),
    usage_thresholds: terms.usageThresholds?.map(({ amountCents, recurring, thresholdDisplayName }) =>
      definedOnly({ amount_cents: amountCents, recurring, threshold_display_name: thresholdDisplayName }),
    ),
  });

interface Place {
  payload: PlanItem['payload'];
  plan: PlanShown;
  path: string;
  faults: Faults;
}

function chargeOverride(change: NonNullable<PlanTerms['charges']>[number], place: Place) {
  const { path, faults } = place;
  const charge = chargeOf(change, place)?.charge;
  if (!charge) return undefined;
  if (change.minAmountCents && charge.pay_in_advance)
    addFault(faults, `${path}.minAmountCents`, 'not_compatible_with_pay_in_advance');
  if (change.properties && !validateProperties(charge.charge_model, change.properties).ok)
    addFault(faults, `${path}.properties`, 'invalid_value');
  return definedOnly({
    id: charge.id,
    properties: change.properties as Properties | undefined,
    min_amount_cents: change.minAmountCents,
    invoice_display_name: change.invoiceDisplayName,
  });
}

/** The charge of a metric; if several have it, the model or the payload's list of charges decides. */
function chargeOf(
  { billableMetricCode, chargeModel }: NonNullable<PlanTerms['charges']>[number],
  { payload, plan, path, faults }: Place,
): ChargeShown | undefined {
  const ofMetric = plan.charges.filter(({ charge }) => charge.billable_metric_code === billableMetricCode);
  if (ofMetric.length === 0) return wrong(faults, `${path}.billableMetricCode`, 'charge_not_found');
  const ofModel = chargeModel ? ofMetric.filter(({ charge }) => charge.charge_model === chargeModel) : ofMetric;
  if (ofModel.length === 0) return wrong(faults, `${path}.chargeModel`, 'cannot_override_charge_model');
  const named = ofModel.filter(({ charge }) => payload.charges?.some(({ id }) => id === charge.id));
  const meant = ofModel.length > 1 ? named : ofModel;
  return meant.length === 1 ? meant[0] : wrong(faults, `${path}.billableMetricCode`, 'ambiguous_charge_override');
}

function fixedChargeOverride(change: NonNullable<PlanTerms['fixedCharges']>[number], place: Place) {
  const { path, faults } = place;
  const fixed = fixedChargeOf(change, place)?.fixedCharge;
  if (!fixed) return undefined;
  if (change.properties && !validateProperties(fixed.charge_model, change.properties).ok)
    addFault(faults, `${path}.properties`, 'invalid_value');
  return definedOnly({
    id: fixed.id,
    units: change.units,
    properties: change.properties,
    invoice_display_name: change.invoiceDisplayName,
  });
}

function fixedChargeOf(
  { addOnCode }: NonNullable<PlanTerms['fixedCharges']>[number],
  { payload, plan, path, faults }: Place,
): FixedChargeShown | undefined {
  const ofAddOn = plan.fixedCharges.filter(({ fixedCharge }) => fixedCharge.add_on_code === addOnCode);
  if (ofAddOn.length === 0) return wrong(faults, `${path}.addOnCode`, 'fixed_charge_not_found');
  const named = ofAddOn.filter(({ fixedCharge }) => payload.fixedCharges?.some(({ id }) => id === fixedCharge.id));
  const meant = ofAddOn.length > 1 ? named : ofAddOn;
  return meant.length === 1 ? meant[0] : wrong(faults, `${path}.addOnCode`, 'ambiguous_fixed_charge_override');
}

function wrong(faults: Faults, path: string, code: string): undefined {
  addFault(faults, path, code);
  return undefined;
}

/** A path of snake-case fields below `path`, in camel case. */
export const camelPath = (path: string, where: readonly PropertyKey[]): string =>
  [path, ...where.map((part) => String(part).replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()))].join(
    '.',
  );

export const definedOnly = <Values extends object>(values: Values): Partial<Values> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<Values>;
