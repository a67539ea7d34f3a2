import type { Decimal } from '../money/decimal.ts';

/** A tax as it is applied; structural: a tax's row can be passed. */
export interface Tax {
  /** Null for a tax that is not in the catalogue: one that an engine named, or one that was deleted. */
  id: string | null;
  code: string;
  name: string;
  description: string | null;
  /** Percent: 20 is 20 %. */
  rate: Decimal | string | number;
}
