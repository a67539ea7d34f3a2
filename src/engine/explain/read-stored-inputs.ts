import { Temporal } from 'temporal-polyfill';
import type { Instant } from '../calendar/instants.ts';
import type { Period } from '../calendar/period.ts';
import { type Decimal, decimal } from '../money/decimal.ts';
import { toMainUnit } from '../money/units.ts';
import { eventAmountExponent } from '../pricing/dynamic.ts';
import type { Denomination } from '../pricing/fee-amounts.ts';
import type { Usage } from '../pricing/priced.ts';
import type { SubscriptionFeeInput } from '../subscriptions/subscription-fee.ts';
import type { StoredEvent, StoredFeeInputs, StoredPeriod } from './stored-inputs.ts';

/** Thrown when stored inputs lack what a computation needs: long lists are stored as their number and sum only. */
export class InputsIncomplete extends Error {
  override name = 'InputsIncomplete';
}

/** Asserts that stored inputs have a field. */
export function given<Value>(value: Value | null | undefined): Value {
  if (value === null || value === undefined) throw new InputsIncomplete('stored inputs lack a value');
  return value;
}

export const instantOf = (text: string): Instant => Temporal.Instant.from(text);
const instantOrNull = (text: string | null): Instant | null => (text === null ? null : instantOf(text));
export const periodOf = ({ from, to }: StoredPeriod): Period => ({ from: instantOf(from), to: instantOf(to) });

/** The currency or pricing unit of a fee's prices. */
export const denominationOf = ({ price, tail }: StoredFeeInputs): Denomination => ({
  exponent: tail.exponent,
  conversionRate:
    price.pricing_unit_rate === null || price.pricing_unit_rate === undefined ? null : decimal(price.pricing_unit_rate),
});

/** Counted usage, not rounded, in the form of a charge model's input. */
export function usageOf(inputs: StoredFeeInputs): Usage {
  const usage = given(inputs.usage);
  const pieces = usage.pieces;
  return {
    units: decimal(given(usage.aggregated_units)),
    eventsCount: usage.events_count ?? 0,
    aggregation: given(inputs.metric).aggregation_type,
    ...(usage.full_units === undefined ? {} : { fullUnits: decimal(usage.full_units) }),
    ...(pieces === undefined
      ? {}
      : {
          moves: {
            list: given(pieces.list).map(({ full, weighed }) => ({ full: decimal(full), weighed: decimal(weighed) })),
            divisor: pieces.divisor,
          },
        }),
    ...valuesOf(usage.values),
    ...(usage.precise_total_amount_cents === undefined
      ? {}
      : {
          preciseTotalAmount: toMainUnit(
            decimal(usage.precise_total_amount_cents),
            eventAmountExponent(inputs.price.properties ?? {}, denominationOf(inputs)),
          ),
        }),
  };
}

/** Usage up to and including one event. */
export const usageOfEvent = (inputs: StoredFeeInputs, { including }: StoredEvent): Usage => ({
  units: decimal(including.units),
  eventsCount: including.events_count,
  aggregation: given(inputs.metric).aggregation_type,
  ...valuesOf(including.values),
  ...(including.precise_total_amount === undefined
    ? {}
    : { preciseTotalAmount: decimal(including.precise_total_amount) }),
});

function valuesOf(values: StoredEvent['including']['values']): { values?: Decimal[] } {
  if (values === undefined) return {};
  if (!Array.isArray(values)) throw new InputsIncomplete('single values are not stored');
  return { values: values.map((value: string) => decimal(value)) };
}

/** What a subscription fee depends on. */
export function subscriptionInputOf({ window, price, before }: StoredFeeInputs): SubscriptionFeeInput {
  const facts = given(before);
  const at = instantOf(given(window.billed_at));
  return {
    plan: {
      amount_cents: given(price.plan_amount_cents),
      interval: given(price.interval),
      pay_in_advance: given(price.pay_in_advance),
      bill_charges_monthly: price.bill_charges_monthly ?? null,
      bill_fixed_charges_monthly: price.bill_fixed_charges_monthly ?? null,
      trial_period: price.trial_period ?? null,
    },
    subscription: {
      status: facts.status,
      billing_time: facts.billing_time,
      subscription_at: instantOf(facts.subscription_at),
      started_at: instantOrNull(facts.started_at),
      terminated_at: instantOrNull(facts.terminated_at),
      created_at: instantOf(facts.created_at),
      trial_ended_at: instantOrNull(facts.trial_ended_at),
    },
    zone: given(window.timezone),
    at,
    window: periodOf(window.fee),
    succession: given(window.succession),
    predecessor: given(window.predecessor),
    firstStartedAt: instantOrNull(facts.first_started_at),
    invoiceCreatedAt: at,
    isOnlyInvoice: facts.is_only_invoice,
    hasOlderFee: facts.has_older_fee,
    hasFeeOfSameDay: facts.has_fee_of_same_day,
    isOnlyForFixedCharges: false,
  };
}
