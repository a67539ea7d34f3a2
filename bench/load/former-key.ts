import type { Db, Sql, Tx } from '../../src/platform/db/connect.ts';

/**
 * Lets the storing statement keep a transaction id once by a unique index of `events`, as it did before the keys of
 * events had a table of their own (migration 0083): nothing else of it differs. The table needs that index.
 *
 * @throws Error when the statement has not the parts that are exchanged
 */
export function withFormerKey(sql: Sql): Sql {
  const wrap = <Connection extends Db>(connection: Connection): Connection =>
    new Proxy(connection, {
      apply(target, self, [first, ...values]: [unknown, ...unknown[]]) {
        const call = target as unknown as (...args: unknown[]) => unknown;
        return Reflect.apply(call, self, [isStoring(first) ? formerOf(first) : first, ...values]);
      },
      get(target, name, receiver) {
        const found = Reflect.get(target, name, receiver);
        if (name !== 'begin') return found;
        return (work: (tx: Tx) => Promise<unknown>) => (target as unknown as Sql).begin((tx) => work(wrap(tx)));
      },
    });
  return wrap(sql);
}

const isStoring = (first: unknown): first is TemplateStringsArray =>
  Array.isArray(first) && first.some((text: string) => text.includes('insert into event_keys'));

const made = new WeakMap<TemplateStringsArray, TemplateStringsArray>();

function formerOf(strings: TemplateStringsArray): TemplateStringsArray {
  const known = made.get(strings);
  if (known) return known;
  const texts = strings.map((text) => EXCHANGED.reduce((changed, [now, before]) => changed.replace(now, before), text));
  if (texts.some((text) => /event_keys|taken\.event_id\s+returning/.test(text)))
    throw new Error('the storing statement has other parts than those that are exchanged');
  const former = Object.assign(texts, { raw: texts }) as unknown as TemplateStringsArray;
  made.set(strings, former);
  return former;
}

/** Parts of the statement of today, and what stood there. */
const EXCHANGED: readonly (readonly [RegExp, string])[] = [
  [/insert into event_keys \([^)]*\)\s*select \(/, 'select ('],
  [
    /\[o\], transaction_hash, subscription_hash, digest, timestamp, id\s+from input where is_fresh\s+on conflict[\s\S]*?do nothing\s+returning event_id/,
    '[o], id as event_id from input where is_fresh',
  ],
  [
    /(from taken join input on input\.id = taken\.event_id)(\s+returning)/,
    '$1 on conflict (organization_id, transaction_id, external_subscription_id) do nothing$2',
  ],
];
