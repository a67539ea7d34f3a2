import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import { type SellingCharge, soldPart } from '../../../../src/engine/ai/rating/sold-part.ts';

const charge = (markup: string | undefined, filters: [string, string][] = []): SellingCharge => ({
  properties: markup === undefined ? {} : { markup_rate: markup },
  declared: { model: ['alpha', 'beta'] },
  filters: filters.map(([model, rate], index) => ({
    id: `${index}`,
    created_at: Temporal.Instant.fromEpochMilliseconds(index),
    values: { model: [model] },
    properties: { markup_rate: rate },
  })),
});
const part = (charges: SellingCharge[], texts: Record<string, string>) => soldPart(charges)(texts).toFixed();

test.each([
  ['no charge takes', [], {}, '0'],
  ['a charge without terms takes', [charge(undefined)], {}, '1'],
  ['a charge with a markup of 20 takes', [charge('20')], {}, '1.2'],
  ['a charge gives away', [charge('-100')], {}, '0'],
  ['two charges take', [charge('20'), charge('-50')], {}, '1.7'],
  ['a filter of a charge takes', [charge('20', [['alpha', '50']])], { model: 'alpha' }, '1.5'],
  ['no filter of a charge takes', [charge('20', [['alpha', '50']])], { model: 'beta' }, '1.2'],
] as [string, SellingCharge[], Record<string, string>, string][])('of calls that %s, %#', (_, charges, texts, sold) => {
  expect(part(charges, texts)).toBe(sold);
});
