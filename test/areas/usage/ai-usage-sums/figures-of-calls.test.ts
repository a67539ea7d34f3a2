import { afterAll, beforeAll, expect, test } from 'vitest';
import { figuresOf } from '../../../../src/areas/usage/ai-usage-sums/change-hours.ts';
import { createEmptyDatabase, type TestDatabase } from '../../../support/database.ts';

// margins.md#sums: what of a call's properties counts in the sums of its hour.
let database: TestDatabase;

beforeAll(async () => {
  database = await createEmptyDatabase();
});
afterAll(() => database.drop());

const figures = async (properties: object) => {
  const { sql } = database;
  const [row] = await sql<Record<'input' | 'output' | 'cached' | 'cost', string | null>[]>`
    select figure.input_tokens::text as input, figure.output_tokens::text as output,
      figure.cache_read_tokens::text as cached, figure.cost::text as cost
    from (select ${JSON.stringify(properties)}::text::jsonb as properties) e cross join lateral ${figuresOf(sql)} figure`;
  return row;
};

const DIGITS_40 = '9'.repeat(40);

test.each<[text: unknown, cost: string | null]>([
  ['0', '0'],
  ['12.50', '12.50'],
  [12.5, '12.5'],
  ['007', '7'],
  [DIGITS_40, DIGITS_40],
  [`${DIGITS_40}.${DIGITS_40}`, `${DIGITS_40}.${DIGITS_40}`],
  [`${DIGITS_40}9`, null],
  [`1.${DIGITS_40}9`, null],
  ['', null],
  ['.', null],
  ['.5', null],
  ['5.', null],
  ['1.2.3', null],
  ['-1', null],
  ['1e3', null],
  [' 1', null],
  ['1\n', null],
  ['NaN', null],
  [true, null],
  [{ a: 1 }, null],
  [null, null],
])('a cost of %j counts as %s', async (text, cost) => {
  expect((await figures({ ai_cost_cents: text }))!.cost).toBe(cost);
});

test('tokens of a call are summed by side, and those of the cache apart; what is no number is left out', async () => {
  const call = {
    tokens_input: '107',
    tokens_cache_read: '3712',
    tokens_cache_read_audio: '8',
    tokens_input_video: 'many',
    tokens_output: '20',
    tokens_reasoning: '832',
    input_tokens: '5000',
    count_images: '4',
  };
  expect(await figures(call)).toEqual({ input: '3827', output: '852', cached: '3720', cost: null });
});

test('an event without any part has nothing of each', async () => {
  expect(await figures({ model: 'alpha' })).toEqual({ input: '0', output: '0', cached: '0', cost: null });
});
