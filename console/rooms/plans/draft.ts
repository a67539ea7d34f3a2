import type { ChargeModelName } from '../../../src/engine/pricing/charge-models.ts';
import { centsOf } from '../../parts/cents.ts';
import { codesOf, textOfCodes } from '../../parts/choices.tsx';
import { t } from '../../texts/en.ts';
import type { Charge, Plan } from './records.ts';

export interface DraftCharge {
  key: string;
  svc_id?: string;
  metricId: string;
  /** The code of a metric that is charged for already. */
  metricCode?: string;
  model: ChargeModelName;
  properties: Record<string, unknown>;
  /** What the editor does not show and sends as it was. */
  kept: Record<string, unknown>;
}

export interface DraftFixedCharge {
  key: string;
  svc_id?: string;
  addOnCode: string;
  model: ChargeModelName;
  /** Decimal text. */
  units: string;
  properties: Record<string, unknown>;
  payInAdvance: boolean;
  prorated: boolean;
}

export interface DraftThreshold {
  key: string;
  /** In the main unit, as it is typed. */
  amount: string;
  name: string;
  recurring: boolean;
}

/** Values of privileges as texts, by feature and privilege; a feature without values is granted as it is. */
export type DraftEntitlements = Record<string, Record<string, string>>;

export interface Draft {
  name: string;
  code: string;
  interval: string;
  amount: string;
  currency: string;
  payInAdvance: boolean;
  charges: DraftCharge[];
  /** Days, as they are typed. */
  trial: string;
  /** As `codesOf` reads them. */
  taxCodes: string;
  /** In the main unit; empty without one. */
  commitment: string;
  fixedCharges: DraftFixedCharge[];
  thresholds: DraftThreshold[];
  entitlements: DraftEntitlements;
}

export const emptyDraft = (currency: string): Draft => ({
  name: '',
  code: '',
  interval: 'monthly',
  amount: '0',
  currency,
  payInAdvance: false,
  charges: [],
  trial: '',
  taxCodes: '',
  commitment: '',
  fixedCharges: [],
  thresholds: [],
  entitlements: {},
});

const EMPTY_RANGE = { from_value: 0, to_value: null };

/** Properties that a charge of a model begins with. */
export function propertiesFor(model: ChargeModelName): Record<string, unknown> {
  switch (model) {
    case 'standard':
      return { amount: '' };
    case 'graduated':
      return { graduated_ranges: [{ ...EMPTY_RANGE, per_unit_amount: '', flat_amount: '0' }] };
    case 'volume':
      return { volume_ranges: [{ ...EMPTY_RANGE, per_unit_amount: '', flat_amount: '0' }] };
    case 'graduated_percentage':
      return { graduated_percentage_ranges: [{ ...EMPTY_RANGE, rate: '', flat_amount: '0' }] };
    case 'package':
      return { amount: '', package_size: 100, free_units: 0 };
    case 'percentage':
      return { rate: '' };
    default:
      return {};
  }
}

export const newCharge = (metricId: string): DraftCharge => ({
  key: crypto.randomUUID(),
  metricId,
  model: 'standard',
  properties: propertiesFor('standard'),
  kept: {},
});

/** A plan as the editor holds it; `isCopy` leaves out its ids. */
export function draftOf(plan: Plan, amountOf: (cents: number) => string, isCopy: boolean): Draft {
  return {
    name: isCopy ? `${plan.name} (copy)` : plan.name,
    code: isCopy ? `${plan.code}_copy` : plan.code,
    interval: plan.interval,
    amount: amountOf(plan.amount_cents),
    currency: plan.amount_currency,
    payInAdvance: plan.pay_in_advance,
    charges: plan.charges.map((charge) => chargeOf(charge, isCopy)),
    trial: plan.trial_period ? String(plan.trial_period) : '',
    taxCodes: textOfCodes((plan.taxes ?? []).map(({ code }) => code)),
    commitment: plan.minimum_commitment ? amountOf(plan.minimum_commitment.amount_cents) : '',
    fixedCharges: (plan.fixed_charges ?? []).map((charge) => ({
      key: charge.svc_id,
      ...(isCopy ? {} : { svc_id: charge.svc_id }),
      addOnCode: charge.add_on_code,
      model: charge.charge_model,
      units: String(charge.units),
      properties: charge.properties,
      payInAdvance: charge.pay_in_advance,
      prorated: charge.prorated,
    })),
    thresholds: (plan.usage_thresholds ?? []).map((threshold) => ({
      key: threshold.svc_id,
      amount: amountOf(threshold.amount_cents),
      name: threshold.threshold_display_name ?? '',
      recurring: threshold.recurring,
    })),
    entitlements: Object.fromEntries(
      (plan.entitlements ?? []).map(({ entitlement: { code, privileges } }) => [
        code,
        Object.fromEntries(privileges.map((each) => [each.code, String(each.value)])),
      ]),
    ),
  };
}

function chargeOf(charge: Charge, isCopy: boolean): DraftCharge {
  const { invoice_display_name, pay_in_advance, min_amount_cents, filters } = charge;
  return {
    key: charge.svc_id ?? crypto.randomUUID(),
    ...(isCopy || charge.svc_id === undefined ? {} : { svc_id: charge.svc_id }),
    metricId: charge.svc_billable_metric_id,
    metricCode: charge.billable_metric_code,
    model: charge.charge_model,
    properties: charge.properties,
    kept: { invoice_display_name, pay_in_advance, min_amount_cents, filters },
  };
}

/** The body that creates or changes the plan. */
export function bodyOf(draft: Draft, exponent: number): Record<string, unknown> {
  return {
    name: draft.name,
    code: draft.code,
    interval: draft.interval,
    amount_cents: centsOf(draft.amount, exponent) ?? draft.amount,
    amount_currency: draft.currency,
    pay_in_advance: draft.payInAdvance,
    charges: draft.charges.map(({ svc_id, metricId, model, properties, kept }) => ({
      ...(svc_id === undefined ? {} : { id: svc_id }),
      billable_metric_id: metricId,
      charge_model: model,
      ...kept,
      properties,
    })),
    trial_period: draft.trial === '' ? null : draft.trial,
    tax_codes: codesOf(draft.taxCodes),
    minimum_commitment: draft.commitment === '' ? {} : { amount_cents: cents(draft.commitment, exponent) },
    usage_thresholds: draft.thresholds.map(({ amount, name, recurring }) => ({
      amount_cents: cents(amount, exponent),
      recurring,
      ...(name === '' ? {} : { threshold_display_name: name }),
    })),
    fixed_charges: draft.fixedCharges.map((charge) => ({
      ...(charge.svc_id === undefined ? { add_on_code: charge.addOnCode } : { id: charge.svc_id }),
      charge_model: charge.model,
      units: charge.units,
      properties: charge.properties,
      pay_in_advance: charge.payInAdvance,
      prorated: charge.prorated,
    })),
  };
}

const cents = (text: string, exponent: number): number | string => centsOf(text, exponent) ?? text;

/** The body that sets what the plan grants: texts of numbers and of yes or no become values. */
export const entitlementsOf = ({ entitlements }: Draft): Record<string, Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(entitlements).map(([feature, values]) => [
      feature,
      Object.fromEntries(
        Object.entries(values)
          .filter(([, text]) => text !== '')
          .map(([privilege, text]) => [
            privilege,
            /^-?\d{1,9}$/.test(text) ? Number(text) : text === 'true' ? true : text === 'false' ? false : text,
          ]),
      ),
    ]),
  );

/** What differs from the plan that is stored, as sentences: what changes, and from when on. */
export function changesOf(before: Draft, after: Draft, nameOf: (metricId: string) => string): string[] {
  const words = t.plans.changes;
  const shown = (value: unknown) => String(value || words.none).replaceAll('\n', ', ');
  const changes: string[] = [];
  for (const [field, text] of Object.entries(words.fields)) {
    const [one, other] = [before[field as keyof Draft], after[field as keyof Draft]];
    if (one !== other) changes.push(words.becomes(text, shown(one), shown(other)));
  }
  const compare = <Part extends { key: string }>(
    list: 'charges' | 'fixedCharges' | 'thresholds',
    say: { added: (part: Part) => string; changed: (part: Part) => string; removed: (part: Part) => string },
  ) => {
    const [former, now] = [before[list], after[list]] as unknown as [Part[], Part[]];
    for (const part of now) {
      const same = former.find(({ key }) => key === part.key);
      if (!same) changes.push(say.added(part));
      else if (JSON.stringify(same) !== JSON.stringify(part)) changes.push(say.changed(part));
    }
    for (const part of former) if (!now.some(({ key }) => key === part.key)) changes.push(say.removed(part));
  };
  compare<DraftCharge>('charges', {
    added: ({ metricId }) => words.chargeAdded(nameOf(metricId)),
    changed: ({ metricId }) => words.chargeChanged(nameOf(metricId)),
    removed: ({ metricId }) => words.chargeRemoved(nameOf(metricId)),
  });
  compare<DraftFixedCharge>('fixedCharges', {
    added: ({ addOnCode, units }) => words.fixedAdded(addOnCode, units),
    changed: ({ addOnCode, units }) => words.fixedChanged(addOnCode, units),
    removed: ({ addOnCode }) => words.fixedRemoved(addOnCode),
  });
  compare<DraftThreshold>('thresholds', {
    added: ({ amount }) => words.thresholdAdded(amount),
    changed: ({ amount }) => words.thresholdChanged(amount),
    removed: ({ amount }) => words.thresholdRemoved(amount),
  });
  for (const feature of new Set([...Object.keys(before.entitlements), ...Object.keys(after.entitlements)])) {
    const [one, other] = [before.entitlements[feature], after.entitlements[feature]];
    if (one === undefined) changes.push(words.featureGranted(feature));
    else if (other === undefined) changes.push(words.featureTaken(feature));
    else if (JSON.stringify(one) !== JSON.stringify(other)) changes.push(words.featureChanged(feature));
  }
  return changes;
}
