import type { WireTable, WireUnit } from '../../../engine/money/wire.ts';

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
