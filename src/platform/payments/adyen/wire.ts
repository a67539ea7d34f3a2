import type { WireTable } from '../../../engine/money/wire.ts';

/**
 * Amounts on Adyen's wire, where they differ from ISO 4217: CLP and ISK have two decimals there, CVE and IDR none.
 * Rule: payments.md#amounts-on-the-wire.
 */
export const ADYEN_WIRE: WireTable = {
  CLP: { exponent: 2, step: 1 },
  ISK: { exponent: 2, step: 1 },
  CVE: { exponent: 0, step: 1 },
  IDR: { exponent: 0, step: 1 },
  CLF: null,
  IRR: null,
};
