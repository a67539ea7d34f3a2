import { assert } from '../assert.ts';
import { type Currency, exponentOf } from './currency.ts';

/** The units in which a provider's interface takes amounts of a currency. */
export interface WireUnit {
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
