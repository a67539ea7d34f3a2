import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../../../src/platform/ids.ts';
import type { Client } from '../../../support/client.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { ok, type Shown } from '../../../support/words.ts';

let service: TestService;
let client: Client & { organization: { organization_id: string } };
beforeAll(async () => {
  service = await startService({ pools: ['events', 'writes', 'billing', 'aggregation'] });
});
afterAll(() => service.stop());
beforeEach(async () => {
  client = await service.org();
});

const LONG_AGO = '2020-01-01T00:00:00Z';
const alpha = { provider: 'openai', model: 'alpha', kind: 'input', cost: '2.5', valid_from: LONG_AGO };
const price = (fields: object = {}) => ({ ...alpha, ...fields });
const add = (...entries: object[]) => client.post('/price_book/entries', { entries });
const list = async (query = '') =>
  (await ok(client.get(`/price_book/entries?layer=organization&${query}`))).entries as Shown[];
const refusalOf = async (answer: ReturnType<Client['post']>) => {
  const { status, body } = await answer;
  return [status, body.error_details ?? body.code];
};
const resolve = async (query: string) =>
  (await ok(client.get(`/price_book/resolve?provider=openai&model=alpha&${query}`))).resolution;
const costs = ({ prices }: Shown) => prices.map(({ kind, cost, fallback }: Shown) => [kind, cost, fallback]);

describe('entries', () => {
  test('are written together, with defaults, and raise the version of the book', async () => {
    const first = await ok(add(price({ sell: '3' }), price({ kind: 'web_search', cost: '0.01', source: 'contract' })));
    expect(first).toMatchObject({ book_version: 1, affects: { unpriced_events: 0 } });
    const [input, search] = first.entries;
    expect(input).toEqual({
      svc_id: expect.any(String),
      layer: 'organization',
      provider: 'openai',
      model: 'alpha',
      tier: 'standard',
      kind: 'input',
      cost: '2.5',
      sell: '3.0',
      per: 1_000_000,
      min_input_tokens: 0,
      currency: 'USD',
      valid_from: LONG_AGO,
      source: null,
      source_ref: null,
      book_version: 1,
      created_at: expect.any(String),
    });
    expect(search).toMatchObject({ per: 1, sell: null, source: 'contract' });
    expect(await list()).toEqual([input, search]);
  });

  test('with the same figures are unchanged, and others of the same time correct them', async () => {
    const { entries } = await ok(add(price()));
    const again = await ok(add(price(), price({ cost: '2.50' })));
    expect([again.book_version, again.entries]).toEqual([1, entries]);
    const corrected = await ok(add(price({ cost: '2.6' })));
    expect(corrected.book_version).toBe(2);
    expect(costs(await resolve(''))[0]).toEqual(['input', '2.6', null]);
  });

  test('hold up to 18 fractional digits, and any power of ten', async () => {
    await ok(
      add(price({ cost: '0.000000000000000001', per: 1 }), price({ kind: 'images', cost: 7, per: 1_000_000_000 })),
    );
    expect((await list()).map(({ cost, per }) => [cost, per])).toEqual([
      ['7.0', 1_000_000_000],
      ['0.000000000000000001', 1],
    ]);
  });

  test.each([
    [{ provider: '' }, { provider: ['value_is_mandatory'] }],
    [{ provider: 'x'.repeat(65) }, { provider: ['value_is_too_long'] }],
    [{ model: undefined }, { model: ['value_is_mandatory'] }],
    [{ model: 'é'.repeat(128) }, { model: ['value_is_too_long'] }],
    [{ tier: 'Batch' }, { tier: ['value_is_invalid'] }],
    [{ tier: 'x'.repeat(33) }, { tier: ['value_is_too_long'] }],
    [{ kind: 'tokens' }, { kind: ['value_is_invalid'] }],
    [{ kind: undefined }, { kind: ['value_is_invalid'] }],
    [{ cost: undefined }, { cost: ['value_is_mandatory'] }],
    [{ cost: 'much' }, { cost: ['value_is_invalid'] }],
    [{ cost: '-1' }, { cost: ['value_is_out_of_range'] }],
    [{ cost: '1000000000.1' }, { cost: ['value_is_out_of_range'] }],
    [{ cost: '0.0000000000000000001' }, { cost: ['value_is_out_of_range'] }],
    [{ sell: '-0.5' }, { sell: ['value_is_out_of_range'] }],
    [{ per: 7 }, { per: ['value_is_invalid'] }],
    [{ per: 0 }, { per: ['value_is_invalid'] }],
    [{ per: 10_000_000_000 }, { per: ['value_is_invalid'] }],
    [{ min_input_tokens: -1 }, { min_input_tokens: ['value_is_out_of_range'] }],
    [{ min_input_tokens: 1.5 }, { min_input_tokens: ['value_is_invalid'] }],
    [{ currency: 'EUR' }, { currency: ['value_is_invalid'] }],
    [{ valid_from: 'soon' }, { valid_from: ['invalid_date'] }],
    [{ source: 'x'.repeat(256) }, { source: ['value_is_too_long'] }],
  ] as [object, object][])('with %j are refused, and none is written', async (fields, details) => {
    expect(await refusalOf(add(price(), price(fields)))).toEqual([422, details]);
    expect(await list()).toEqual([]);
  });

  test.each([
    [undefined, { entries: ['value_is_invalid'] }],
    [7, { entries: ['value_is_invalid'] }],
    [Array.from({ length: 1001 }, () => alpha), { entries: ['value_is_too_long'] }],
  ])('that are no list of prices are refused', async (entries, details) => {
    expect(await refusalOf(client.post('/price_book/entries', { entries }))).toEqual([422, details]);
  });

  test('beyond 2 000 of one model are refused', async () => {
    const at = (n: number) => new Date(Date.UTC(2020, 0, 1) + n * 60_000).toISOString();
    const page = (from: number, count: number) =>
      add(...Array.from({ length: count }, (_, n) => price({ valid_from: at(from + n), cost: `${from + n}` })));
    await ok(page(0, 1000));
    await ok(page(1000, 1000));
    expect(await refusalOf(page(2000, 1))).toEqual([422, { entries: ['value_is_out_of_range'] }]);
  });

  test('are listed by filters, and as they hold at a time', async () => {
    await ok(
      add(
        price(),
        price({ valid_from: '2024-01-01T00:00:00Z', cost: '2' }),
        price({ tier: 'batch', cost: '1' }),
        price({ model: 'beta', provider: 'anthropic' }),
      ),
    );
    const shown = async (query: string) =>
      (await list(query)).map(({ model, tier, cost }) => `${model} ${tier} ${cost}`);
    expect(await shown('')).toEqual([
      'beta standard 2.5',
      'alpha standard 2.0',
      'alpha batch 1.0',
      'alpha standard 2.5',
    ]);
    expect(await shown('provider=anthropic')).toEqual(['beta standard 2.5']);
    expect(await shown('model=alpha&tier=batch')).toEqual(['alpha batch 1.0']);
    expect(await shown('kind=output')).toEqual([]);
    expect(await shown('model=alpha&tier=standard&at=2023-12-31T23:59:59Z')).toEqual(['alpha standard 2.5']);
    expect(await shown('model=alpha&tier=standard&at=2024-01-01T00:00:00Z')).toEqual(['alpha standard 2.0']);
    expect((await client.get('/price_book/entries?layer=nobody')).status).toBe(422);
  });

  test('of another organization are neither seen nor retracted', async () => {
    const { entries } = await ok(add(price()));
    const other = await service.org();
    expect((await ok(other.get('/price_book/entries?layer=organization'))).entries).toEqual([]);
    expect((await other.delete(`/price_book/entries/${entries[0].svc_id}`)).body).toMatchObject({
      status: 404,
      resource: 'price_entry',
    });
  });

  test('that are retracted hold no more; those of the deployment cannot be', async () => {
    const { entries } = await ok(add(price()));
    const path = `/price_book/entries/${entries[0].svc_id}`;
    expect((await ok(client.delete(path))).entry).toEqual(entries[0]);
    expect(await list()).toEqual([]);
    expect((await client.delete(path)).status).toBe(404);
    expect((await client.delete('/price_book/entries/no-uuid')).status).toBe(404);
    const shared = newId();
    await service.sql.begin(async (tx) => {
      const [layer] = await tx`update price_layers set version = version + 1 returning version`;
      await tx`
        insert into price_entries (id, provider, model, tier, kind, min_input_tokens, cost, per, currency, valid_from,
          book_version, created_at)
        values (${shared}, 'shared', 'zeta', 'standard', 'input', 0, 1, 1000000, 'USD', ${LONG_AGO}, ${layer!.version},
          now())`;
    });
    expect(await refusalOf(client.delete(`/price_book/entries/${shared}`))).toEqual([403, 'deployment_price']);
    const effective = await ok(client.get('/price_book/entries?layer=effective&provider=shared'));
    expect(effective.entries).toMatchObject([{ svc_id: shared, layer: 'deployment' }]);
  });
});

describe('prices that hold for a call', () => {
  test('come with their entry, and with the kind that stands in', async () => {
    const { entries } = await ok(add(price(), price({ kind: 'output', cost: '10', sell: '12' })));
    const shown = await resolve('at=2026-03-01T00:00:00Z');
    expect(shown).toMatchObject({ provider: 'openai', model: 'alpha', tier: 'standard', flags: [] });
    expect(shown.prices[0]).toMatchObject({ kind: 'input', svc_price_entry_id: entries[0].svc_id, fallback: null });
    expect(shown.prices.find(({ kind }: Shown) => kind === 'reasoning')).toMatchObject({
      cost: '10.0',
      sell: '12.0',
      fallback: 'output',
    });
  });

  test('are those of the size, the tier and the time of the call', async () => {
    await ok(
      add(
        price({ cost: '3' }),
        price({ cost: '6', min_input_tokens: 200_000 }),
        price({ cost: '1.5', tier: 'batch', valid_from: '2026-01-01T00:00:00Z' }),
      ),
    );
    const input = async (query: string) => (await resolve(query)).prices[0].cost;
    expect(await input('input_tokens=200000')).toBe('3.0');
    expect(await input('input_tokens=200001')).toBe('6.0');
    expect(await input('tier=batch&at=2026-01-01T00:00:00Z')).toBe('1.5');
    expect((await resolve('tier=batch&at=2025-12-31T23:59:59Z')).flags).toEqual(['tier_fallback']);
    expect((await resolve('at=2019-12-31T00:00:00Z')).prices).toEqual([]);
  });

  test('of an unknown model are none, and a name is mandatory', async () => {
    const { resolution } = await ok(client.get('/price_book/resolve?provider=openai&model=omega'));
    expect(resolution).toMatchObject({ model: 'omega', flags: ['model_unknown'], prices: [] });
    expect(await refusalOf(client.get('/price_book/resolve?provider=openai'))).toEqual([
      422,
      { model: ['value_is_mandatory'] },
    ]);
    expect((await client.get('/price_book/resolve?provider=a&model=b&input_tokens=many')).status).toBe(422);
  });
});

describe('other names', () => {
  const put = (aliases: unknown) => client.put('/price_book/aliases', { aliases });

  test('lead to the prices of a model, replace those before, and are listed beside it', async () => {
    await ok(add(price()));
    const aliases = [
      { provider: 'azure', pattern: 'prod-*', target_provider: 'openai', target_model: 'alpha' },
      { provider: 'openai', pattern: 'mine', target_provider: null, target_model: 'alpha' },
    ];
    expect((await ok(put(aliases))).aliases).toEqual(aliases);
    const named = async (provider: string, model: string) =>
      (await ok(client.get(`/price_book/resolve?provider=${provider}&model=${model}`))).resolution;
    expect(await named('azure', 'prod-7')).toMatchObject({ provider: 'openai', model: 'alpha', flags: [] });
    const { models } = await ok(client.get('/price_book/models?search_term=openai/al'));
    expect(models).toEqual([
      {
        provider: 'openai',
        model: 'alpha',
        aliases: ['mine', 'prod-*'],
        tiers: ['standard'],
        kinds: ['input'],
        source: null,
        newest_valid_from: LONG_AGO,
      },
    ]);
    await ok(put([]));
    expect((await ok(client.get('/price_book/aliases'))).aliases).toEqual([]);
    expect(await named('azure', 'prod-7')).toMatchObject({ flags: ['model_unknown'] });
  });

  test.each([
    [{ pattern: 'a*b' }, { pattern: ['value_is_invalid'] }],
    [{ pattern: '' }, { pattern: ['value_is_mandatory'] }],
    [{ provider: undefined }, { provider: ['value_is_mandatory'] }],
    [{ target_model: 'x'.repeat(256) }, { target_model: ['value_is_too_long'] }],
  ] as [object, object][])('with %j are refused', async (fields, details) => {
    const alias = { provider: 'azure', pattern: 'a', target_model: 'alpha', ...fields };
    expect(await refusalOf(put([alias]))).toEqual([422, details]);
    expect(await refusalOf(put(undefined))).toEqual([422, { aliases: ['value_is_invalid'] }]);
  });
});

describe('imports', () => {
  const map = (fields: object = {}) => ({
    'anthropic/beta': {
      litellm_provider: 'anthropic',
      input_cost_per_token: 3e-6,
      output_cost_per_token: 1.5e-5,
      cache_read_input_token_cost: 3e-7,
      cache_creation_input_token_cost: 3.75e-6,
      cache_creation_input_token_cost_above_1hr: 6e-6,
      input_cost_per_token_above_200k_tokens: 6e-6,
      output_cost_per_token_above_200k_tokens: 2.25e-5,
      ...fields,
    },
    'openai/odd': { litellm_provider: 'openai', input_cost_per_token: 2.1875e-6, output_cost_per_token: 0 },
  });
  const bring = (content: unknown, query = '') => client.post(`/price_book/import?${query}`, content);

  test('of a price map are exact, and hold long before for models that are new (PB7)', async () => {
    expect((await ok(bring(map()))).import).toEqual({
      models: 2,
      entries_new: 8,
      entries_changed: 0,
      entries_unchanged: 0,
      skipped: { zero: 1 },
      book_version: 1,
      changes: [],
    });
    const shown = (await list('provider=anthropic')).map((row) => [row.kind, row.min_input_tokens, row.cost]);
    expect(shown).toEqual([
      ['cache_read', 0, '0.3'],
      ['cache_write', 0, '3.75'],
      ['cache_write_1h', 0, '6.0'],
      ['input', 0, '3.0'],
      ['input', 200_000, '6.0'],
      ['output', 0, '15.0'],
      ['output', 200_000, '22.5'],
    ]);
    expect(await list('model=odd')).toMatchObject([{ cost: '2.1875', source: 'litellm', valid_from: LONG_AGO }]);
  });

  const PRICES_OF_MANY = [
    'input_cost_per_token',
    'output_cost_per_token',
    'cache_read_input_token_cost',
    'input_cost_per_token_batches',
    'output_cost_per_token_batches',
  ];

  test('take a whole published map of 2 000 models, and refuse what is larger by far before it is read', async () => {
    const about = Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`supports_feature_${index}`, true]));
    const model = (index: number) => [
      `openai/model-${index}`,
      {
        ...about,
        litellm_provider: 'openai',
        mode: 'chat',
        max_tokens: 8192,
        source: 'https://example.com/prices',
        supported_modalities: ['text', 'image'],
        input_cost_per_token: 2.5e-6,
        output_cost_per_token: 1e-5,
        cache_read_input_token_cost: 1.25e-6,
        input_cost_per_token_batches: 1.25e-6,
        output_cost_per_token_batches: 5e-6,
      },
    ];
    const whole = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => model(index)));
    expect(JSON.stringify(whole).length).toBeGreaterThan(1_000_000);
    // The second time rows are compared of which Postgres has counted nothing yet.
    expect((await ok(bring(whole))).import).toMatchObject({ models: 2000, entries_new: 10_000, skipped: {} });
    expect((await ok(bring(whole))).import).toMatchObject({ entries_unchanged: 10_000, book_version: 1 });
    const many = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, index) => [
        `m${index}`,
        {
          litellm_provider: index === 0 ? 'openai' : 'other',
          ...Object.fromEntries(PRICES_OF_MANY.map((name) => [name, 1e-6])),
        },
      ]),
    );
    const refused = await bring(many);
    expect([refused.status, refused.body.error_details]).toEqual([422, { entries: ['value_is_out_of_range'] }]);
    const providers = 'providers[]=openai';
    expect((await ok(bring(many, providers))).import).toMatchObject({ models: 1, entries_new: PRICES_OF_MANY.length });
    const larger = Object.fromEntries(Array.from({ length: 20_001 }, (_, index) => [`m${index}`, 1]));
    expect((await bring(larger)).status).toBe(413);
  });

  test('name providers as calls of them are named', async () => {
    const of = (litellm_provider: string) => ({ litellm_provider, input_cost_per_token: 1e-6 });
    await ok(
      bring({
        'gemini/gamma': of('gemini'),
        'anthropic.beta-v1:0': of('bedrock_converse'),
        'vertex_ai/beta@1': of('vertex_ai-anthropic_models'),
      }),
    );
    expect((await list()).map(({ provider, model }) => [provider, model])).toEqual([
      ['bedrock', 'anthropic.beta-v1:0'],
      ['google', 'gamma'],
      ['vertex_ai', 'beta@1'],
    ]);
  });

  test('of the same file change nothing, and one with a price times 1.6 is refused unless forced (PB8)', async () => {
    await ok(bring(map()));
    expect((await ok(bring(map()))).import).toMatchObject({ entries_new: 0, entries_unchanged: 8, book_version: 1 });
    const odd = map({ input_cost_per_token: 4.8e-6 });
    expect(await refusalOf(bring(odd))).toEqual([422, { base: ['value_is_out_of_range'] }]);
    expect((await ok(bring(odd, 'force=true'))).import).toMatchObject({
      entries_new: 0,
      entries_changed: 1,
      entries_unchanged: 7,
      book_version: 2,
      changes: [{ model: 'beta', kind: 'input', from: '3.0', to: '4.8', percent: '60.0' }],
    });
  });

  test.each([[42], ['a file'], [true], [[]], [null], [{}]])(
    'that are %j, and no file of prices, are refused',
    async (content) => {
      expect(await refusalOf(bring(content))).toEqual([422, { base: ['value_is_invalid'] }]);
    },
  );

  test('that lack a fifth of the models are refused, unless only some providers are read', async () => {
    await ok(bring(map()));
    const part = { 'anthropic/beta': map()['anthropic/beta'] };
    expect(await refusalOf(bring(part))).toEqual([422, { base: ['value_is_out_of_range'] }]);
    expect((await ok(bring(part, 'providers[]=anthropic'))).import).toMatchObject({ entries_unchanged: 7 });
    // The last file counts, not all that ever were.
    await ok(bring(part, 'force=true'));
    expect((await ok(bring(part))).import).toMatchObject({ entries_unchanged: 7 });
  });

  test('may be tried without writing, begin at a time, and take zeros', async () => {
    const tried = await ok(bring(map(), 'dry_run=true&accept_zero=true'));
    expect(tried.import).toMatchObject({ entries_new: 9, book_version: 0, skipped: {} });
    expect(await list()).toEqual([]);
    await ok(bring(map(), 'valid_from=2026-01-01T00:00:00Z&providers[]=openai'));
    expect((await list()).map(({ valid_from }) => valid_from)).toEqual(['2026-01-01T00:00:00Z']);
  });

  test('read the list of entries again, and files of models.dev', async () => {
    await ok(add(price({ sell: '3' }), price({ kind: 'output', cost: '10' })));
    const written = await list();
    const other = await service.org();
    await ok(other.post('/price_book/import?source=meterstone', { entries: written }));
    const read = (await ok(other.get('/price_book/entries?layer=organization'))).entries;
    const figures = (rows: Shown[]) => rows.map(({ kind, cost, sell, valid_from }) => [kind, cost, sell, valid_from]);
    expect(figures(read)).toEqual(figures(written));
    const file = { google: { models: { gamma: { cost: { input: 1.25, context_over_200k: { input: 2.5 } } } } } };
    expect((await ok(bring(file, 'source=models_dev'))).import).toMatchObject({ models: 1, entries_new: 2 });
  });

  test('leave out entries whose time or place the book cannot hold, and never let one hold at another time', async () => {
    const entry = { provider: 'openai', model: 'alpha', kind: 'input', cost: '1' };
    const entries = [
      { ...entry, valid_from: '2026-02-31T00:00:00Z' },
      { ...entry, valid_from: '2026-02-01T25:61:00Z' },
      { ...entry, valid_from: '0000-01-01T00:00:00Z' },
      { ...entry, valid_from: '2026-03-01T00:00:00+01:00' },
      { ...entry, source_ref: 'a\u0000' },
      { ...entry, source_ref: 'x'.repeat(256) },
      { ...entry, model: 'beta', min_input_tokens: 999_999_999_999 },
    ];
    expect((await ok(bring({ entries }, 'source=meterstone'))).import).toMatchObject({
      models: 1,
      entries_new: 1,
      skipped: { invalid_time: 4, invalid_name: 2 },
    });
    expect((await list()).map(({ model }) => model)).toEqual(['beta']);
  });

  test.each([
    ['source=nobody', { source: ['value_is_invalid'] }],
    ['valid_from=soon', { valid_from: ['invalid_date'] }],
  ])('with the query %s are refused', async (query, details) => {
    expect(await refusalOf(bring(map(), query))).toEqual([422, details]);
  });

  test('need a book in US dollars', async () => {
    await ok(client.put('/organizations/settings', { settings: { ai: { book_currency: 'EUR' } } }));
    expect(await refusalOf(bring(map()))).toEqual([422, { currency: ['value_is_invalid'] }]);
    await ok(add(price({ currency: 'EUR' })));
    const settings = { settings: { ai: { book_currency: 'USD' } } };
    expect(await refusalOf(client.put('/organizations/settings', settings))).toEqual([
      422,
      { 'ai.book_currency': ['value_is_frozen'] },
    ]);
  });
});

describe('a call over HTTP', () => {
  const AI2 = {
    external_subscription_id: 'ada-1',
    transaction_id: 'call',
    body: {
      model: 'alpha',
      usage: { prompt_tokens: 3819, prompt_tokens_details: { cached_tokens: 3712 }, completion_tokens: 20 },
    },
  };
  const sell = () =>
    add(
      price({ sell: '3' }),
      price({ kind: 'cache_read', cost: '1.25' }),
      price({ kind: 'output', cost: '10', sell: '12' }),
    );

  test('is rated at once, explained with its prices, and previewed alike (AI2)', async () => {
    const { entries } = await ok(sell());
    const idOf = (kind: string) => entries.find((entry: Shown) => entry.kind === kind).svc_id;
    const parts = [
      {
        kind: 'input',
        quantity: '107.0',
        cost: '2.5',
        sell: '3.0',
        per: 1_000_000,
        precise_cost_cents: '0.02675',
        precise_amount_cents: '0.0321',
        svc_price_entry_id: idOf('input'),
        fallback: null,
      },
      {
        kind: 'cache_read',
        quantity: '3712.0',
        cost: '1.25',
        sell: null,
        per: 1_000_000,
        precise_cost_cents: '0.464',
        precise_amount_cents: '0.464',
        svc_price_entry_id: idOf('cache_read'),
        fallback: null,
      },
      {
        kind: 'output',
        quantity: '20.0',
        cost: '10.0',
        sell: '12.0',
        per: 1_000_000,
        precise_cost_cents: '0.02',
        precise_amount_cents: '0.024',
        svc_price_entry_id: idOf('output'),
        fallback: null,
      },
    ];
    const figures = {
      status: 'priced',
      precise_cost_cents: '0.51075',
      precise_amount_cents: '0.5201',
      book_version: 1,
    };
    const preview = (await ok(client.post('/ai/usage/preview', { ai_usage: AI2 }))).ai_usage;
    expect(preview).toMatchObject({ ...figures, parts });
    expect((await ok(client.post('/ai/usage', { ai_usage: AI2 }))).ai_usage).toMatchObject(figures);
    const shown = async () => (await ok(client.get('/ai/usage/call'))).ai_usage;
    expect(await shown()).toMatchObject({ ...figures, parts, matches: true });
    await ok(add(price({ cost: '99' })));
    expect(await shown()).toMatchObject({ ...figures, parts, matches: true });
    await service.sql`
      update events set precise_total_amount_cents = 1
      where organization_id = ${client.organization.organization_id}`;
    expect(await shown()).toMatchObject({ precise_amount_cents: '1.0', matches: false });
  });

  test('without a price waits, its model is listed with names that are near, and may be ignored', async () => {
    await ok(sell());
    const sent = await ok(client.post('/ai/usage', { ai_usage: { ...AI2, model: 'alpha-mini' } }));
    expect(sent.ai_usage).toMatchObject({ status: 'unpriced', precise_cost_cents: null, precise_amount_cents: null });
    const unknown = async () => (await ok(client.get('/price_book/unknown'))).unknown_models;
    await expect.poll(unknown, { timeout: 20_000 }).toMatchObject([
      {
        provider: 'openai',
        model: 'alpha-mini',
        tier: 'standard',
        missing_kinds: ['input', 'cache_read', 'output'],
        events: 1,
        tokens: '3839.0',
        nearest: [{ provider: 'openai', model: 'alpha' }],
      },
    ]);
    const ignore = (body: object) => client.post('/price_book/unknown/ignore', { ignore: body });
    expect(await refusalOf(ignore({ provider: 'openai' }))).toEqual([422, { model: ['value_is_mandatory'] }]);
    const { ignored } = await ok(ignore({ provider: 'openai', model: 'alpha-mini', reason: 'a trial' }));
    expect(ignored).toEqual({ provider: 'openai', model: 'alpha-mini', events: 1 });
    expect(await unknown()).toEqual([]);
  });
});

test('a key without the permission may neither read nor write prices', async () => {
  const { api_key } = await ok(
    client.post('/api_keys', { api_key: { name: 'Narrow', permissions: { event: ['read'] } } }),
  );
  const narrow = service.client(api_key.value);
  expect((await narrow.get('/price_book/entries')).body.code).toBe('read_action_not_allowed_for_price_book');
  expect((await narrow.post('/price_book/entries', { entries: [alpha] })).body.code).toBe(
    'write_action_not_allowed_for_price_book',
  );
});
