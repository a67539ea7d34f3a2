import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { ATTACK_NAMES } from '../../harness/options.ts';
import type { Stage } from './stage.ts';

export type AttackName = (typeof ATTACK_NAMES)[number];

/** One way in which an organization may delay others (attacks A1 to A8, E2): a request that is sent again and again. */
export interface Attack {
  name: AttackName;
  what: string;
  callers: number;
  /** Least time between two requests of a caller. */
  gapMs: number;
  /** What must exist before the attack; its result is passed to `send`, and `end` removes it. */
  prepare?(stage: Stage): Promise<{ end(): Promise<void> }>;
  send(stage: Stage, index: number): Promise<unknown>;
}

const CHARGES = 500;
const LIST_BYTES = 4_900_000;
const BLANK_BYTES = 8 * 1024 * 1024;

/** Text of a JSON list that repeats one element as often as fits. */
const listOf = (element: string, bytes: number): string =>
  `[${new Array(Math.floor(bytes / (element.length + 1))).fill(element).join(',')}]`;

const wrongCharges = `{"plan":{"name":"a","code":"b","charges":${listOf('{}', LIST_BYTES)}}}`;
const wrongTaxes = `{"customer":{"external_id":"q","tax_codes":${listOf('1', LIST_BYTES)}}}`;
const deep = `{"customer":${'['.repeat(LIST_BYTES / 2)}${']'.repeat(LIST_BYTES / 2)}}`;
const metadata = Array.from({ length: 100 }, (_, index) => `metadata[k${index}]=v`).join('&');
const blankLines = gzipSync(Buffer.alloc(BLANK_BYTES, '\n'));
const preview = JSON.stringify({ plan_code: 'large', customer: { external_id: 'locked' } });
const ordinaryPreview = JSON.stringify({ plan_code: 'ordinary', customer: { external_id: 'locked' } });
/** Numbers that no double holds, as many as an ordinary record and a plan may have. */
const customerWith = (value: string): string => `{"customer":{"external_id":"q","x":${value}}}`;
const hostileBodies: readonly [path: string, body: string | Buffer][] = [
  ['/customers', customerWith(listOf('1234567890.1234567', 3900 * 19))],
  ['/customers', customerWith(`0.1${'0'.repeat(1_000_000)}1`)],
  ['/customers', customerWith(listOf(`${'['.repeat(60)}${']'.repeat(60)}`, 60 * 121))],
  ['/plans', `{"plan":{"name":"a","code":"b","charges":${listOf('{"filters":[{},{},{}]}', 500 * 22)}}}`],
  ['/plans', `{"plan":{"name":"a","code":"b","x":${listOf('1e-300', 49_000 * 7)}}}`],
];
/** 100 events of 900 numbers, each 302 characters once it is written out. */
const dearEvents = JSON.stringify({
  events: new Array(100).fill({
    transaction_id: 'a',
    properties: Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`p${index}`, '1e-300'])),
  }),
}).replaceAll('"1e-300"', '1e-300');
const UNMATCHED = 20_000;
const UNMATCHED_CODES = 400;
const BULK_LINES = 5000;
const NDJSON = { 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' };

export const attacks: readonly Attack[] = [
  {
    name: 'A1',
    what: 'lists of a million wrong elements',
    callers: 2,
    gapMs: 500,
    send: ({ busy }, index) =>
      index % 2 === 0 ? busy.post('/plans', wrongCharges) : busy.post('/customers', wrongTaxes),
  },
  {
    name: 'A2',
    what: 'invoices by 100 metadata keys',
    callers: 14,
    gapMs: 280,
    send: ({ busy }) => busy.get(`/invoices?${metadata}`),
  },
  {
    name: 'A3',
    what: `previews of a plan of ${CHARGES} charges`,
    callers: 30,
    gapMs: 600,
    send: ({ busy }) => busy.post('/invoices/preview', preview),
  },
  {
    name: 'A4',
    what: '8 MB of blank lines',
    callers: 4,
    gapMs: 400,
    send: ({ busy }) => busy.post('/events/bulk', blankLines, NDJSON),
  },
  {
    name: 'A5',
    what: `usage of a plan of ${CHARGES} charges`,
    callers: 20,
    gapMs: 100,
    send: ({ busy }) => busy.get('/customers/locked/current_usage?external_subscription_id=large'),
  },
  {
    name: 'A6',
    what: 'JSON of 2.4 million levels',
    callers: 4,
    gapMs: 80,
    send: ({ busy }) => busy.post('/customers', deep),
  },
  {
    name: 'A7',
    what: 'made-up keys and unsigned inbound events',
    callers: 20,
    gapMs: 20,
    send: ({ strangerWith, busyId }, index) => {
      const stranger = strangerWith(randomBytes(24).toString('base64url'));
      return index % 2 === 0
        ? stranger.get('/plans')
        : stranger.post(`/webhooks/sandbox/${busyId}?code=none`, '{"id":"x"}');
    },
  },
  {
    name: 'A8',
    what: 'small writes far above the limit',
    callers: 40,
    gapMs: 50,
    send: ({ busy }, index) => busy.post('/customers', `{"customer":{"external_id":"flood-${index % 1000}"}}`),
  },
  {
    name: 'E2 locked',
    what: '40 writes behind a locked customer',
    callers: 40,
    gapMs: 500,
    prepare: (stage) => stage.lockCustomer('locked'),
    send: ({ busy }, index) => busy.post('/customers', `{"customer":{"external_id":"locked","name":"Name ${index}"}}`),
  },
  {
    name: 'E2 wallet',
    what: '100 callers hold on one wallet',
    callers: 100,
    gapMs: 0,
    send: ({ rich, walletId }) =>
      // These holds stay open, so that each decision is measured with many open holds and none ends in a quiet
      // measurement.
      rich.post(`/wallets/${walletId}/holds`, '{"hold":{"amount_cents":1,"expires_in_seconds":3600}}'),
  },
  {
    name: 'events',
    what: 'batches of 100 events without a pause',
    callers: 16,
    gapMs: 0,
    send: ({ busy }, index) => busy.post('/events/batch', batchOf(index)),
  },
  {
    name: 'bodies',
    what: 'bodies as dear as they may be',
    callers: 8,
    gapMs: 160,
    send: ({ busy }, index) => busy.post(...hostileBodies[index % hostileBodies.length]!),
  },
  {
    name: 'dear events',
    what: 'batches of 90 000 numbers with exponents',
    callers: 4,
    gapMs: 50,
    send: ({ busy }) => busy.post('/events/batch', dearEvents),
  },
  {
    name: 'heal',
    what: `new metrics over ${UNMATCHED} unmatched events`,
    callers: 2,
    gapMs: 300,
    prepare: sendUnmatched,
    send: ({ busy }, index) => {
      const code = `unknown-${index % UNMATCHED_CODES}`;
      return busy.post(
        '/billable_metrics',
        JSON.stringify({ billable_metric: { name: code, code, aggregation_type: 'count_agg' } }),
      );
    },
  },
  {
    name: 'previews',
    what: 'ordinary previews without a pause',
    callers: 8,
    gapMs: 0,
    send: ({ busy }) => busy.post('/invoices/preview', ordinaryPreview),
  },
];

/** Events that no metric counts; each new metric takes some of them, and they are matched again when it is created. */
async function sendUnmatched({ busy }: Stage): Promise<{ end(): Promise<void> }> {
  const name = randomBytes(4).toString('hex');
  const lines = Array.from({ length: UNMATCHED }, (_, index) => {
    const code = `unknown-${index % UNMATCHED_CODES}`;
    return JSON.stringify({ transaction_id: `${name}-${index}`, external_subscription_id: 'large', code });
  });
  for (let first = 0; first < UNMATCHED; first += BULK_LINES)
    await busy.post('/events/bulk', lines.slice(first, first + BULK_LINES).join('\n'), {
      'content-type': 'application/x-ndjson',
    });
  return { async end() {} };
}

const run = randomBytes(4).toString('hex');
const batchOf = (batch: number): string =>
  JSON.stringify({
    events: Array.from({ length: 100 }, (_, index) => ({
      transaction_id: `${run}-${batch}-${index}`,
      external_subscription_id: 'large',
      code: 'requests',
    })),
  });

/** Charges of an ordinary plan. */
const FEW_CHARGES = 10;

/** Bodies of the plans that the attackers use: one as large as it may be, and an ordinary one. */
export const plansOf = (metricId: string) => [
  planOf('large', CHARGES, metricId),
  planOf('ordinary', FEW_CHARGES, metricId),
];

const planOf = (code: string, charges: number, metricId: string) => ({
  plan: {
    name: code,
    code,
    interval: 'monthly',
    pay_in_advance: false,
    amount_cents: 0,
    amount_currency: 'EUR',
    charges: Array.from({ length: charges }, (_, index) => ({
      billable_metric_id: metricId,
      code: `charge-${index}`,
      charge_model: 'standard',
      properties: { amount: '0.01' },
    })),
  },
});
