import { KINDS } from '../../../engine/ai/kinds.ts';
import { decimalText } from '../../../engine/money/decimal.ts';
import { seconds } from '../../../platform/schema/view.ts';
import type { PriceEntryRow, PriceModelRow } from './queries.ts';
import type { PriceEntryView } from './schema.ts';

export const entryView = ({ id, cost, sell, valid_from, created_at, ...entry }: PriceEntryRow): PriceEntryView => ({
  svc_id: id,
  ...entry,
  cost: decimalText(cost),
  sell: sell && decimalText(sell),
  valid_from: seconds(valid_from),
  created_at: seconds(created_at),
});

export const modelView = ({ newest_valid_from, kinds, ...model }: PriceModelRow) => ({
  ...model,
  kinds: KINDS.filter((kind) => kinds.includes(kind)),
  newest_valid_from: seconds(newest_valid_from),
});
