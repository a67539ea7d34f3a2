import type { Flight } from './flights.ts';

/** Prices of the demo's plan, in hundredths of a cent a unit so that they are whole numbers. */
export const PRICES = {
  planCents: 4900n,
  perFlight: { text: '2.5', hundredths: 25_000n },
  perMile: { text: '0.0125', hundredths: 125n },
  perMinuteOfDelay: { text: '0.1', hundredths: 1_000n },
  taxPercent: { text: '8.25', hundredths: 825n },
};

/** Divides and rounds half up; the amount must not be negative. */
const divide = (amount: bigint, by: bigint): bigint => (2n * amount + by) / (2n * by);
const positive = (amount: bigint): bigint => (amount < 0n ? 0n : amount);

/**
 * The expected cost of a month of an airport in cents, computed from the raw records with integers and without the
 * service's code: the plan, each charge rounded to a cent, the tax on their sum.
 */
export function expectedTotalCents(flights: readonly Flight[], month: string): bigint {
  const flown = flights.filter((flight) => flight.leftAt.toString().startsWith(month));
  const miles = flown.reduce((total, flight) => total + BigInt(flight.distance), 0n);
  const delay = flown.reduce((total, flight) => total + BigInt(flight.delay), 0n);
  const fees = [
    PRICES.planCents,
    divide(BigInt(flown.length) * PRICES.perFlight.hundredths, 100n),
    divide(miles * PRICES.perMile.hundredths, 100n),
    divide(positive(delay) * PRICES.perMinuteOfDelay.hundredths, 100n),
  ];
  const net = fees.reduce((total, fee) => total + fee, 0n);
  return net + divide(net * PRICES.taxPercent.hundredths, 10_000n);
}
