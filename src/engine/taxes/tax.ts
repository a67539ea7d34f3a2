import type { Decimal } from '../money/decimal.ts';

/** A tax as it is applied; structural: a tax's row can be passed. */
export interface Tax {
  id: string;
  code: string;
  name: string;
  description: string | null;
  /** Percent: 20 is 20 %. */
  rate: Decimal | string | number;
}
