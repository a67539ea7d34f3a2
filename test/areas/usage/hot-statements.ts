/** A statement of the hot paths over events or rollups. */
export interface HotStatement {
  /** A part of its text that no other statement has; runs of blanks are one blank. */
  phrase: string;
  /** Every index of these tables that it may read. */
  indexes: readonly string[];
  /** How many blocks it may read at most, for an organization of 60 000 events and 10 000 fees in 20 subscriptions. */
  mostBlocks: number;
}

/** Tables whose statements must be listed here. */
export const HOT_TABLES = ['events', 'event_keys', 'usage_buckets', 'usage_uniques', 'fees'] as const;

export const hotStatements: readonly HotStatement[] = [
  // Ingest: 100 events that are stored already.
  { phrase: 'insert into events (id, organization_id', indexes: [], mostBlocks: 1000 },
  {
    phrase: 'select sent.n::int as n, key.event_id',
    indexes: ['event_keys_pkey', 'events_pkey'],
    mostBlocks: 900,
  },
  // What follows it: a batch of 100 events.
  {
    phrase: 'select e.id, e.organization_id, e.external_subscription_id, e.code, to_char',
    indexes: ['events_pkey'],
    mostBlocks: 600,
  },
  { phrase: 'with event as materialized ( select e.organization_id', indexes: ['events_pkey'], mostBlocks: 1500 },
  // Lists: a page of 20, and the count of the first 10 000.
  {
    phrase: 'num_nulls(e.deleted_at) <> 0 order by e.timestamp desc, e.transaction_id fetch first',
    indexes: ['events_newest'],
    mostBlocks: 50,
  },
  {
    phrase: 'num_nulls(e.deleted_at) <> 0 order by e.timestamp desc limit',
    indexes: ['events_newest'],
    mostBlocks: 10_500,
  },
  {
    phrase: 'num_nonnulls(e.deleted_at) <> 1 order by e.timestamp desc, e.transaction_id fetch first',
    indexes: ['events_newest_of_code'],
    mostBlocks: 50,
  },
  {
    phrase: 'num_nonnulls(e.deleted_at) <> 1 order by e.timestamp desc limit',
    indexes: ['events_newest_of_code'],
    mostBlocks: 10_500,
  },
  {
    phrase: 'with recursive next as ( (select code from events',
    indexes: ['events_of_subscription'],
    mostBlocks: 50,
  },
  {
    phrase: '(with newest as ( select listed.code',
    indexes: ['events_of_subscription', 'events_pkey'],
    mostBlocks: 250,
  },
  {
    phrase: 'cross join lateral (select from (select from events e',
    indexes: ['events_of_subscription'],
    mostBlocks: 3500,
  },
  {
    phrase: 'e.deleted_at is null order by e.timestamp desc fetch first',
    indexes: ['events_of_subscription'],
    mostBlocks: 50,
  },
  {
    phrase: 'e.deleted_at is null order by e.timestamp desc limit',
    indexes: ['events_of_subscription'],
    mostBlocks: 1000,
  },
  {
    phrase: ">= 'infinity' order by e.timestamp desc fetch first",
    indexes: ['event_keys_pkey', 'events_pkey'],
    mostBlocks: 20,
  },
  {
    phrase: ">= 'infinity' order by e.timestamp desc limit",
    indexes: ['event_keys_pkey', 'events_pkey'],
    mostBlocks: 20,
  },
  { phrase: ">= 'infinity' order by e.created_at desc", indexes: ['event_keys_pkey', 'events_pkey'], mostBlocks: 20 },
  { phrase: 'and id = any ($2::uuid[]) and coalesce', indexes: ['events_pkey'], mostBlocks: 400 },
  // Usage of a subscription of 3 000 events and four charges, and a month's end.
  {
    phrase: 'select scan.ns, grp.properties as texts, summed.events_count',
    indexes: ['usage_buckets_pkey', 'events_pkey'],
    mostBlocks: 3000,
  },
  {
    phrase: 'select scan.ns, grp.properties as texts, listed.settled',
    indexes: ['usage_uniques_pkey', 'events_of_subscription', 'events_pkey'],
    mostBlocks: 3000,
  },
  {
    phrase: 'select answering.n, true as is_rollup, summed.*',
    indexes: ['usage_buckets_pkey', 'events_of_subscription'],
    mostBlocks: 3000,
  },
  // Fees: of an invoice, one by its id; pages of 20 and counts of 10 000, of an external subscription and of all.
  {
    phrase: 'where organization_id = $2 and invoice_id = $3 and deleted_at is null offset 0) fee',
    indexes: ['fees_of_invoice'],
    mostBlocks: 100,
  },
  { phrase: 'and fee.id = $4', indexes: ['fees_of_invoice', 'fees_pkey'], mostBlocks: 20 },
  {
    phrase: 'and fee.external_subscription_id = $6 limit $7) as counted',
    indexes: ['fees_subscription'],
    mostBlocks: 1000,
  },
  {
    phrase: 'and fee.external_subscription_id = $8 order by fee.created_at, fee.id limit',
    indexes: ['fees_of_invoice', 'fees_pkey', 'fees_subscription'],
    mostBlocks: 1200,
  },
  {
    phrase: 'is not false limit $3) as counted',
    indexes: ['fees_customer', 'fees_of_invoice', 'fees_oldest', 'fees_subscription'],
    mostBlocks: 40_000,
  },
  {
    phrase: 'is not false order by fee.created_at, fee.id limit',
    indexes: ['fees_customer', 'fees_of_invoice', 'fees_oldest', 'fees_pkey'],
    mostBlocks: 900,
  },
  // Billing: the subscriptions that are due, what was billed of them before, their new fees.
  { phrase: 'as has_paid_fees', indexes: ['fees_standalone', 'fees_subscription'], mostBlocks: 400 },
  { phrase: 'last.fixed_charges_to_datetime as last_fixed_to from', indexes: ['fees_of_invoice'], mostBlocks: 400 },
  { phrase: 'with stored as ( insert into fees (', indexes: [], mostBlocks: 1000 },
];
