import { expect, test } from 'vitest';
import { boundedPage } from '../../../src/platform/lists/bounded-page.ts';

async function pageOf(page: number, per_page: number, total: { count: number; isEstimated: boolean }) {
  let looks = 0;
  const rows = async () => {
    looks += 1;
    return ['row'];
  };
  const read = await boundedPage({ page, per_page }, { rows, count: async () => total });
  return { ...read, looks };
}

const LONG = { count: 2_000_000, isEstimated: true };
const SHORT = { count: 10_000, isEstimated: false };

test.each([
  [1, 1000, LONG],
  [51, 1000, LONG],
  [2501, 20, LONG],
  [51, 1000, SHORT],
])('page %i of %i rows starts within the first 50 000 and is read', async (page, perPage, total) => {
  expect(await pageOf(page, perPage, total)).toEqual({ rows: ['row'], total, looks: 1 });
});

test.each([
  [52, 1000],
  [2502, 20],
  [1_000_000_000, 1000],
])(
  'page %i of %i rows is refused in a long list and empty in a short one, without reading a row',
  async (page, perPage) => {
    await expect(pageOf(page, perPage, LONG)).rejects.toMatchObject({
      status: 422,
      body: { error_details: { page: ['value_is_out_of_range'] } },
    });
    expect(await pageOf(page, perPage, SHORT)).toEqual({ rows: [], total: SHORT, looks: 0 });
  },
);
