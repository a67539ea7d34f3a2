import { assert } from '../assert.ts';
import { type Currency, exponentOf } from './currency.ts';

/** The units in which a provider's interface takes amounts of a currency. */
interface WireUnit {
  /** Decimals of the wire's unit. */
  exponent: number;
  /** Amounts must be a multiple of it. */
  step: number;
}

/** Currencies for which a provider uses other units; null: not supported. */
export type WireTable = Partial<Record<Currency, WireUnit | null>>;

/** The amount sent to a provider, and the rest that cannot be sent. */
export interface WireAmount {
  wire: number;
  /** The part of the amount that `wire` represents, in our smallest unit. */
  chargedCents: number;
  /** The rest of the amount: less than one step. */
  restCents: number;
}

const whole: WireUnit = { exponent: 0, step: 1 };
const wholeInHundredths: WireUnit = { exponent: 2, step: 100 };
const tens: WireUnit = { exponent: 3, step: 10 };

/**
 * Amounts on Stripe's wire, where they differ from ISO 4217. ISK and UGX are two-decimal there, and whole;
 * three-decimal amounts end in 0; MGA has no decimals. Rule: payments.md#amounts-on-the-wire.
 */
export const STRIPE_WIRE: WireTable = {
  BIF: whole,
  CLP: whole,
  DJF: whole,
  GNF: whole,
  JPY: whole,
  KMF: whole,
  KRW: whole,
  MGA: whole,
  PYG: whole,
  RWF: whole,
  VND: whole,
  VUV: whole,
  XAF: whole,
  XOF: whole,
  XPF: whole,
  ISK: wholeInHundredths,
  UGX: wholeInHundredths,
  BHD: tens,
  JOD: tens,
  KWD: tens,
  OMR: tens,
  TND: tens,
  CLF: null,
  IQD: null,
  IRR: null,
  LYD: null,
};

const NO_WIRE: WireTable = {};

/** The wire of a connection; the double of sandboxes takes our amounts as they are. */
export const wireOf = (providerType: string): WireTable => (providerType === 'stripe' ? STRIPE_WIRE : NO_WIRE);

/**
 * An amount in the provider's units: rounded down to the provider's step, so that it never exceeds the due amount.
 *
 * cents   ≥ 0, in our smallest unit of the currency
 * → undefined when the provider does not take the currency
 *
 *   Stripe, KWD 5124  →  wire 5120, charged 5120, rest 4
 *   Stripe, ISK 500   →  wire 50000, charged 500, rest 0
 *   Stripe, MGA 50050 →  wire 500, charged 50000, rest 50
 *
 * Rule: payments.md#amounts-on-the-wire.
 */
export function toWire(table: WireTable, cents: number, currency: string): WireAmount | undefined {
  assert(Number.isSafeInteger(cents) && cents >= 0, 'an amount is a whole number of the smallest unit');
  const unit = unitOf(table, currency);
  if (!unit) return undefined;
  const { step, up, down } = unit;
  const wire = ((BigInt(cents) * up) / down / step) * step;
  const chargedCents = Number((wire * down) / up);
  return { wire: Number(wire), chargedCents, restCents: cents - chargedCents };
}

/**
 * An amount of the provider in our smallest unit; undefined if it cannot have been sent: an odd multiple of the step,
 * or a currency that the provider does not take. Rule: payments.md#amounts-on-the-wire.
 */
export function fromWire(table: WireTable, wire: number, currency: string): number | undefined {
  const unit = unitOf(table, currency);
  if (!unit || !Number.isSafeInteger(wire) || wire < 0 || BigInt(wire) % unit.step !== 0n) return undefined;
  const scaled = BigInt(wire) * unit.down;
  return scaled % unit.up === 0n ? Number(scaled / unit.up) : undefined;
}

/** One step of the provider's amounts in our smallest unit: smaller amounts cannot be paid there. */
export function stepCents(table: WireTable, currency: string): number {
  const unit = unitOf(table, currency);
  return unit ? Number((unit.step * unit.down + unit.up - 1n) / unit.up) : 1;
}

function unitOf(table: WireTable, currency: string) {
  const known = table[currency as Currency];
  if (known === null) return undefined;
  const own = exponentOf(currency as Currency);
  const { exponent, step } = known ?? { exponent: own, step: 1 };
  const scale = exponent - own;
  return {
    step: BigInt(step),
    up: 10n ** BigInt(Math.max(scale, 0)),
    down: 10n ** BigInt(Math.max(-scale, 0)),
  };
}
