import { expect, test } from 'vitest';
import { chargeUsageView, type ShownCharge, type ShownShare } from '../../../src/areas/usage/usage/view.ts';
import { cents } from '../../../src/engine/money/cents.ts';
import { decimal } from '../../../src/engine/money/decimal.ts';

// everywhere.md#bounded-cost: usage of 20 000 fees is worked out in pieces, between which others are answered.
const SHARES = 20_000;
const FILTER = { id: 'f', invoice_display_name: null, values: { region: ['eu'] } };

const charge = (fields: Partial<ShownCharge> = {}): ShownCharge => ({
  id: 'c',
  code: 'c',
  charge_model: 'standard',
  invoice_display_name: null,
  metric: { id: 'm', name: 'M', code: 'm', aggregation_type: 'sum_agg' },
  filters: [],
  ...fields,
});

/** Shares of half a unit and 3 cents each; `counted` hears of each that is added. */
const sharesOf = (fields: Partial<ShownShare>, counted: () => void): ShownShare[] =>
  Array.from({ length: SHARES }, (_, n) => ({
    filterId: null,
    groupedBy: { team: `t${n}` },
    totalUnits: decimal('0.5'),
    units: decimal('0.5'),
    amountCents: cents(3),
    pricingUnitCents: cents(5),
    presented: [],
    ...fields,
    get eventsCount() {
      counted();
      return 2;
    },
  }));

const PROJECTED = { units: decimal(1), amountCents: cents(6), pricingUnitCents: cents(10), presented: [] };
const CREDITS = { pricing_unit: { short_name: 'CR' }, conversion_rate: decimal('0.6') };

test.each<[string, Partial<ShownCharge>, Partial<ShownShare>]>([
  ['in groups', {}, {}],
  ['in groups of one filter', { filters: [FILTER] }, { filterId: 'f' }],
  [
    'in no group, of one filter, projected',
    { filters: [FILTER] },
    { filterId: 'f', groupedBy: {}, projected: PROJECTED },
  ],
  ['in a pricing unit, projected', CREDITS, { projected: PROJECTED }],
])('the figures of 20 000 shares %s are added up in pieces of at most 500', async (_name, terms, fields) => {
  let [inPiece, most] = [0, 0];
  const counted = () => {
    inPiece += 1;
    most = Math.max(most, inPiece);
  };
  const pause = () => {
    inPiece = 0;
    return undefined;
  };
  const view = await chargeUsageView(charge(terms), sharesOf(fields, counted), 'USD', { pause });
  expect(most).toBeLessThanOrEqual(500);
  expect(view).toMatchObject({
    units: '10000.0',
    total_aggregated_units: '10000.0',
    events_count: 40_000,
    amount_cents: 60_000,
    ...(fields.projected ? { projected_units: '20000.0', projected_amount_cents: 120_000 } : {}),
    pricing_unit_details:
      terms.pricing_unit === undefined
        ? null
        : { amount_cents: 100_000, short_name: 'CR', conversion_rate: '0.6', projected_amount_cents: 200_000 },
  });
  if (terms.filters) expect(view.filters[0]).toMatchObject({ units: '10000.0', amount_cents: 60_000 });
});
