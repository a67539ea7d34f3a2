import type { ChargeModelName } from '../../../src/engine/pricing/charge-models.ts';
import { centsOf } from '../../parts/cents.ts';
import type { Charge, Plan } from './records.ts';

export interface DraftCharge {
  key: string;
  svc_id?: string;
  metricId: string;
  model: ChargeModelName;
  properties: Record<string, unknown>;
  /** What the editor does not show and sends as it was. */
  kept: Record<string, unknown>;
}

export interface Draft {
  name: string;
  code: string;
  interval: string;
  amount: string;
  currency: string;
  payInAdvance: boolean;
  charges: DraftCharge[];
}

export const emptyDraft = (currency: string): Draft => ({
  name: '',
  code: '',
  interval: 'monthly',
  amount: '0',
  currency,
  payInAdvance: false,
  charges: [],
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
  };
}

function chargeOf(charge: Charge, isCopy: boolean): DraftCharge {
  const { invoice_display_name, pay_in_advance, min_amount_cents, filters } = charge;
  return {
    key: charge.svc_id ?? crypto.randomUUID(),
    ...(isCopy || charge.svc_id === undefined ? {} : { svc_id: charge.svc_id }),
    metricId: charge.svc_billable_metric_id,
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
  };
}

/** What differs from the plan that is stored, as sentences. */
export function changesOf(before: Draft, after: Draft, nameOf: (metricId: string) => string): string[] {
  const changes: string[] = [];
  const fields = [
    ['name', 'Name'],
    ['code', 'Code'],
    ['interval', 'Interval'],
    ['amount', 'Fee'],
    ['currency', 'Currency'],
    ['payInAdvance', 'Billed in advance'],
  ] as const;
  for (const [field, text] of fields)
    if (before[field] !== after[field]) changes.push(`${text}: ${before[field]} becomes ${after[field]}.`);
  for (const charge of after.charges) {
    const former = before.charges.find(({ key }) => key === charge.key);
    const name = nameOf(charge.metricId);
    if (!former) changes.push(`A charge for ${name} is added.`);
    else if (JSON.stringify(former) !== JSON.stringify(charge))
      changes.push(`The prices of ${name} change, from the current usage window on.`);
  }
  for (const charge of before.charges)
    if (!after.charges.some(({ key }) => key === charge.key))
      changes.push(`The charge for ${nameOf(charge.metricId)} is removed.`);
  return changes;
}
