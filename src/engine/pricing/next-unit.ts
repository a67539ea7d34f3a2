import { type Decimal, decimal, max, ZERO } from '../money/decimal.ts';
import { amountOf } from './amount-text.ts';
import type { Properties } from './charge-model.ts';
import type { ChargeModelName } from './charge-models.ts';
import { type Range, rangesOf } from './ranges.ts';

/** What the next unit of usage costs, and how far free units and tiers reach. */
export interface NextUnit {
  /** In the main unit; of so many units, where they are sold in packages. */
  price: Decimal;
  per: Decimal | null;
  /** Units that are still free; null where none ever were. */
  freeLeft: Decimal | null;
  /** The tier of the next unit, from 1, and how many there are; null without tiers. */
  tier: { number: number; of: number } | null;
}

/**
 * The price of the unit after `units`, by the properties of a charge; undefined for models whose price depends on
 * single events.
 *
 *   0–1000 free, 1001–10000 at 0.005; 400 units → price 0, 600 still free, tier 1 of 2
 *
 * Rule: portal.md#usage.
 */
export function nextUnitOf(model: ChargeModelName, properties: Properties, units: Decimal): NextUnit | undefined {
  if (model === 'standard') return { price: amountOf(properties.amount), per: null, freeLeft: null, tier: null };
  if (model === 'package') return inPackage(properties, units);
  if (model === 'graduated') return inRange(rangesOf(properties, 'graduated_ranges'), units, true);
  return model === 'volume' ? inRange(rangesOf(properties, 'volume_ranges'), units, false) : undefined;
}

function inPackage({ amount, package_size, free_units }: Properties, units: Decimal): NextUnit {
  const free = decimal(free_units as number);
  const left = max(ZERO, free.minus(units));
  return {
    price: left.isZero() ? amountOf(amount) : ZERO,
    per: left.isZero() ? decimal(package_size as number) : null,
    freeLeft: free.isZero() ? null : left,
    tier: null,
  };
}

function inRange(ranges: readonly Range[], units: Decimal, hasFree: boolean): NextUnit {
  const found = ranges.findIndex(({ to }) => to === null || units.lt(to));
  const index = found === -1 ? ranges.length - 1 : found;
  const costly = ranges.findIndex((range) => !isFree(range));
  // The last free tier of several from the first on.
  const freeUntil = hasFree && costly > 0 ? ranges[costly - 1]!.to : null;
  return {
    price: amountOf(ranges[index]!.properties.per_unit_amount),
    per: null,
    freeLeft: freeUntil === null ? null : max(ZERO, freeUntil.minus(units)),
    tier: ranges.length > 1 ? { number: index + 1, of: ranges.length } : null,
  };
}

const isFree = ({ properties }: Range): boolean =>
  amountOf(properties.per_unit_amount).isZero() && amountOf(properties.flat_amount).isZero();
