import { setTimeout as wait } from 'node:timers/promises';
import { roundToCents } from '../../engine/money/cents.ts';
import { decimal } from '../../engine/money/decimal.ts';
import type { LineTaxes, TaxDocument, TaxEngine, TaxOutcome } from './port.ts';

/** The key with which a sandbox connects the built-in double. */
export const SANDBOX_TAX_KEY = 'sandbox';

/** How long the double thinks about an address with `slow` in its first line. */
const SLOW_MS = 4000;

interface Place {
  jurisdiction: string;
  name: string;
  /** A fraction. */
  rate: string;
  /** The share of an amount that is taxed. */
  share: string;
}

const STATES: Readonly<Record<string, Place | 'juris_not_taxed'>> = {
  CA: 'juris_not_taxed',
  CO: { jurisdiction: 'Denver (local)', name: 'Tax', rate: '0.0481', share: '1' },
  NY: { jurisdiction: 'New York', name: 'Tax', rate: '0.08875', share: '1' },
  TX: { jurisdiction: 'Texas', name: 'Tax', rate: '0.0825', share: '0.8' },
  WA: { jurisdiction: 'Washington', name: 'Tax', rate: '0.1025', share: '1' },
};
const UNITED_KINGDOM: Place = { jurisdiction: 'United Kingdom', name: 'VAT', rate: '0.2', share: '1' };

const TRACE = { httpStatus: 200, body: null };
const done = { kind: 'answered', answer: null, trace: TRACE } as const;

/**
 * The tax engine of sandboxes: taxes by state, needs no account and keeps nothing. An address with `fail` in its first
 * line is refused, one with `slow` is answered after four seconds. Rule: tax-engines.md#the-double-of-sandboxes.
 */
export function sandboxTaxEngine(): TaxEngine {
  async function tax(document: TaxDocument, timeoutMs: number): Promise<TaxOutcome<{ lines: LineTaxes[] }>> {
    const { shipping, billing } = document.customer;
    const address = shipping.country ? shipping : billing;
    const line1 = address.line1 ?? '';
    if (/\bslow\b/i.test(line1)) {
      await wait(Math.min(SLOW_MS, timeoutMs));
      if (timeoutMs <= SLOW_MS) return unreachable(timeoutMs);
    }
    if (!address.country || /\bfail\b/i.test(line1)) return refused();
    const place = placeOf(address.country, address.region);
    const lines = document.lines.map(({ id, netCents }) => taxLine(id, netCents, place));
    return { kind: 'answered', answer: { lines }, trace: TRACE };
  }
  return {
    check: async () => done,
    estimate: tax,
    record: tax,
    void: async () => done,
    negate: async () => done,
  };
}

function placeOf(country: string, region: string | null): Place | string {
  if (country === 'GB') return UNITED_KINGDOM;
  return country === 'US' ? (STATES[(region ?? '').toUpperCase()] ?? 'not_collecting') : 'not_collecting';
}

function taxLine(id: string, netCents: number, place: Place | string): LineTaxes {
  if (typeof place === 'string') return { id, collectedCents: 0, taxes: [], notTaxed: place };
  const { jurisdiction, name, rate, share } = place;
  const amount = decimal(netCents).times(share).times(rate);
  const taxes = [{ jurisdiction, name, rate, amountCents: amount.toFixed() }];
  return { id, collectedCents: roundToCents(amount), taxes, notTaxed: null };
}

const refused = () => {
  const fault = { code: 'customerAddressCouldNotResolve', message: 'The address of the customer is unknown' };
  return { kind: 'refused', fault, trace: { httpStatus: 409, body: JSON.stringify({ type: fault.code }) } } as const;
};

const unreachable = (timeoutMs: number) =>
  ({
    kind: 'unreachable',
    fault: { code: 'unreachable', message: `no answer within ${timeoutMs / 1000} s` },
    trace: { httpStatus: null, body: null },
  }) as const;
