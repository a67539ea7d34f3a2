import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

// biome-ignore lint/suspicious/noExplicitAny: records of GoCardless, as far as we read them
type Loose = any;

/** Tokens: one with which everything works, one that may only read, one that is unknown. */
export const GOCARDLESS_TOKEN = 'sandbox_good';
export const GOCARDLESS_READ_ONLY = 'sandbox_read_only';
export const GOCARDLESS_WEBHOOK_SECRET = 'webhook-secret-of-gocardless';

export interface FakeGocardless {
  url: string;
  customers: Map<string, Loose>;
  mandates: Map<string, Loose>;
  payments: Map<string, Loose>;
  refunds: Map<string, Loose>;
  billingRequests: Map<string, Loose>;
  /** Calls as they came: method and path. */
  calls: string[];
  /** Bodies of the calls that make or change something, oldest first. */
  bodies: Loose[];
  creditor: Loose;
  /** What may be refunded in all: GoCardless holds no more of our money. */
  refundable: number;
  /** The next so many calls are refused because there were too many. */
  throttle(count: number): void;
  /** The next creation in a collection is done, and its answer is lost. */
  loseNext(collection: string): void;
  /** Whether every answer is a failure of the provider itself. */
  isDown: boolean;
  /** The payer ends the page: a mandate of a scheme, with its events. */
  sign(billingRequestId: string, fields?: { scheme?: string; last4?: string; bank?: string }): Loose;
  /** Moves a payment through states, as days go by; the events of all of them. */
  move(payment: Loose, ...states: string[]): Loose[];
  /** An event about a record. */
  event(resource: string, action: string, fields: Loose): Loose;
  /** A body with events, and its headers. */
  post(events: Loose[], secret?: string): { body: string; headers: Record<string, string> };
  close(): Promise<void>;
}

class Refused extends Error {
  readonly status: number;
  readonly body: Loose;

  constructor(status: number, type: string, errors: Loose[], message = errors[0]?.message ?? type) {
    super(message);
    this.status = status;
    this.body = { error: { message, errors, type, code: status, request_id: 'req', documentation_url: 'https://x' } };
  }
}

const invalid = (field: string, message: string) => new Refused(422, 'validation_failed', [{ field, message }]);
const state = (status: number, reason: string, links?: object) =>
  new Refused(status, 'invalid_state', [{ reason, message: reason, ...(links ? { links } : {}) }]);
const misuse = (status: number, reason: string) =>
  new Refused(status, 'invalid_api_usage', [{ reason, message: reason }]);

const CURRENCIES: Record<string, string> = {
  bacs: 'GBP',
  sepa_core: 'EUR',
  becs: 'AUD',
  pad: 'CAD',
  ach: 'USD',
  autogiro: 'SEK',
  betalingsservice: 'DKK',
  becs_nz: 'NZD',
};

/** Fields that a creation takes; another one is refused. */
const FIELDS: Record<string, string[]> = {
  customers: ['company_name', 'given_name', 'family_name', 'email', 'metadata', 'country_code', 'language'],
  payments: ['amount', 'currency', 'description', 'charge_date', 'metadata', 'reference', 'links', 'retry_if_possible'],
  refunds: ['amount', 'total_amount_confirmation', 'metadata', 'reference', 'links'],
  billing_requests: ['mandate_request', 'links', 'metadata', 'payment_request'],
  billing_request_flows: ['redirect_uri', 'exit_uri', 'links', 'lock_customer_details', 'prefilled_customer'],
};
const PREFIX: Record<string, string> = {
  customers: 'CU',
  payments: 'PM',
  refunds: 'RE',
  billing_requests: 'BRQ',
  billing_request_flows: 'BRF',
};
const REFERENCE_MAX: Record<string, number> = { bacs: 10, sepa_core: 140 };
const CHARGEABLE = ['pending_customer_approval', 'pending_submission', 'submitted', 'active'];
const OPEN_REFUNDS_MOST = 5;
const PAGE_MOST = 500;

function demandMetadata(metadata: Loose = {}): void {
  const entries = Object.entries<Loose>(metadata);
  if (entries.length > 3) throw invalid('metadata', 'must have at most 3 keys');
  for (const [name, value] of entries) {
    if (name.length > 50) throw invalid('metadata', 'key names must be at most 50 characters');
    if (typeof value !== 'string' || value.length > 500) throw invalid('metadata', 'values must be short strings');
  }
}

function demandAmount(field: string, value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) <= 0) throw invalid(field, 'must be greater than 0');
  return value as number;
}

/**
 * GoCardless, as far as we call it: it refuses what the real one refuses (unknown fields, more than three metadata, a
 * mandate that is not active, another currency than its scheme's, references without an identifier of one's own, a
 * wrong total of refunds, keys used before, tokens without rights) and keeps records, so that days can go by.
 */
export async function fakeGocardless(): Promise<FakeGocardless> {
  const [customers, mandates, payments] = [
    new Map<string, Loose>(),
    new Map<string, Loose>(),
    new Map<string, Loose>(),
  ];
  const [refunds, billingRequests] = [new Map<string, Loose>(), new Map<string, Loose>()];
  const [accounts, flows] = [new Map<string, Loose>(), new Map<string, Loose>()];
  const stores: Record<string, Map<string, Loose>> = {
    customers,
    mandates,
    payments,
    refunds,
    billing_requests: billingRequests,
    customer_bank_accounts: accounts,
    billing_request_flows: flows,
  };
  const keys = new Map<string, string>();
  const calls: string[] = [];
  const bodies: Loose[] = [];
  const lost: string[] = [];
  let [throttled, serial, isDown] = [0, 0, false];
  const creditor: Loose = {
    id: 'CR1',
    can_create_refunds: true,
    scheme_identifiers: [
      { scheme: 'bacs', currency: 'GBP', can_specify_mandate_reference: true },
      { scheme: 'sepa', currency: 'EUR', can_specify_mandate_reference: false },
    ],
  };
  const fake = { refundable: 1_000_000 };
  const nextId = (prefix: string) => {
    serial += 1;
    return `${prefix}${String(serial).padStart(6, '0')}`;
  };
  /** A second a record, so that they have an order. */
  const now = () => new Date(Date.now() + serial * 1000).toISOString();

  const found = (collection: string, id: string, field: string): Loose => {
    const record = stores[collection]!.get(id);
    if (!record)
      throw new Refused(422, 'validation_failed', [{ field, message: 'must exist', reason: 'link_not_found' }]);
    return record;
  };

  const make: Record<string, (fields: Loose) => Loose> = {
    customers(fields) {
      if (!fields.company_name && !(fields.given_name && fields.family_name))
        throw invalid('given_name', 'must be present unless company_name is');
      if (fields.email !== undefined && !/^\S+@\S+$/.test(fields.email)) throw invalid('email', 'is invalid');
      return fields;
    },
    billing_requests({ mandate_request: request, links, metadata }) {
      if (!request) throw invalid('mandate_request', 'must be present');
      if (!request.currency && !request.scheme) throw invalid('mandate_request.currency', "can't be blank");
      if (request.currency && !Object.values(CURRENCIES).includes(request.currency))
        throw invalid('mandate_request.currency', 'is not supported');
      demandMetadata(request.metadata);
      if (links?.customer) found('customers', links.customer, 'links.customer');
      return { status: 'pending', mandate_request: request, links: { customer: links?.customer }, metadata };
    },
    billing_request_flows(fields) {
      const request = found('billing_requests', fields.links.billing_request, 'links.billing_request');
      if (request.status !== 'pending') throw state(409, 'billing_request_not_pending');
      if (!/^https?:/.test(fields.redirect_uri)) throw invalid('redirect_uri', 'must be a URL');
      return { ...fields, authorisation_url: `https://pay-sandbox.test/flow?id=${request.id}` };
    },
    payments(fields) {
      const amount = demandAmount('amount', fields.amount);
      const mandate = found('mandates', fields.links?.mandate ?? '', 'links.mandate');
      if (mandate.links.new_mandate) throw state(409, 'mandate_replaced', { new_mandate: mandate.links.new_mandate });
      if (!CHARGEABLE.includes(mandate.status)) throw state(409, 'mandate_is_inactive');
      if (!Object.values(CURRENCIES).includes(fields.currency)) throw invalid('currency', 'is not supported');
      if (CURRENCIES[mandate.scheme] !== fields.currency) throw invalid('currency', "must be the mandate's");
      if (fields.description?.length > 100) throw invalid('description', 'is too long');
      if (fields.reference !== undefined) {
        const own = creditor.scheme_identifiers.find((each: Loose) => mandate.scheme.startsWith(each.scheme));
        if (!own?.can_specify_mandate_reference) throw invalid('reference', 'is not allowed for this creditor');
        if (fields.reference.length > (REFERENCE_MAX[mandate.scheme] ?? 18)) throw invalid('reference', 'is too long');
      }
      const links = { mandate: mandate.id, creditor: creditor.id };
      return { ...fields, amount, amount_refunded: 0, charge_date: '2026-12-01', status: 'pending_submission', links };
    },
    refunds(fields) {
      const amount = demandAmount('amount', fields.amount);
      const payment = found('payments', fields.links?.payment ?? '', 'links.payment');
      if (creditor.can_create_refunds === false) throw misuse(403, 'feature_disabled');
      if (!['confirmed', 'paid_out'].includes(payment.status)) throw state(422, 'refund_payment_invalid_state');
      const before = [...refunds.values()].filter(({ links }) => links.payment === payment.id);
      if (before.length >= OPEN_REFUNDS_MOST) throw state(422, 'number_of_refunds_exceeded');
      if (payment.amount_refunded + amount > payment.amount) throw invalid('amount', 'exceeds the payment');
      if (fields.total_amount_confirmation !== payment.amount_refunded + amount)
        throw state(422, 'total_amount_confirmation_invalid');
      if (amount > fake.refundable) throw state(422, 'available_refund_amount_insufficient');
      payment.amount_refunded += amount;
      return { ...fields, currency: payment.currency, status: 'created', links: { payment: payment.id } };
    },
  };

  function create(collection: string, body: Loose, key: string | undefined): Loose {
    const known = key === undefined ? undefined : keys.get(`${collection} ${key}`);
    if (known) throw state(409, 'idempotent_creation_conflict', { conflicting_resource_id: known });
    const fields = body?.[collection];
    if (typeof fields !== 'object' || fields === null || Object.keys(body).length !== 1)
      throw misuse(400, 'invalid_document_structure');
    for (const name of Object.keys(fields))
      if (!FIELDS[collection]!.includes(name)) throw invalid(name, 'is not a permitted key');
    demandMetadata(fields.metadata);
    const id = nextId(PREFIX[collection]!);
    const record = { metadata: {}, ...make[collection]!(fields), id, created_at: now() };
    stores[collection]!.set(id, record);
    if (key !== undefined) keys.set(`${collection} ${key}`, id);
    return record;
  }

  function listed(collection: string, query: URLSearchParams): Loose {
    const records = collection === 'creditors' ? [creditor] : [...stores[collection]!.values()].reverse();
    const limit = Number(query.get('limit') ?? 50);
    if (!(limit >= 1 && limit <= PAGE_MOST)) throw misuse(400, 'invalid_filters');
    const since = query.get('created_at[gte]');
    if (since !== null && !/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(since)) throw misuse(400, 'invalid_filters');
    const passing = records.filter(
      (each) =>
        (query.get('customer') ?? each.links?.customer) === each.links?.customer &&
        (query.get('payment') ?? each.links?.payment) === each.links?.payment &&
        (since === null || each.created_at >= since),
    );
    const after = query.get('after');
    const from = after === null ? 0 : passing.findIndex(({ id }) => id === after) + 1;
    const items = passing.slice(from, from + limit);
    const cursor = from + limit < passing.length ? items.at(-1).id : null;
    return { [collection]: items, meta: { cursors: { before: null, after: cursor }, limit } };
  }

  function act(collection: string, id: string, action: string): Loose {
    const record = stores[collection]?.get(id);
    if (!record) throw misuse(404, 'resource_not_found');
    if (collection === 'payments' && record.status !== 'pending_submission') throw state(422, 'cancellation_failed');
    if (collection === 'billing_requests' && record.status !== 'pending')
      throw state(409, 'billing_request_not_pending');
    if (action !== 'cancel') throw misuse(404, 'path_not_found');
    record.status = 'cancelled';
    return record;
  }

  function answer(request: IncomingMessage, text: string): { status: number; body: Loose; collection: string } {
    const url = new URL(request.url!, 'http://x');
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    if (request.headers['gocardless-version'] !== '2015-07-06') throw misuse(400, 'version_not_found');
    if (token !== GOCARDLESS_TOKEN && token !== GOCARDLESS_READ_ONLY) throw misuse(401, 'access_token_not_found');
    if (request.method !== 'GET' && token === GOCARDLESS_READ_ONLY) throw misuse(403, 'insufficient_permissions');
    const [, collection = '', id, actions, action] = url.pathname.split('/');
    if (collection !== 'creditors' && !stores[collection]) throw misuse(404, 'path_not_found');
    if (request.method === 'GET' && id === undefined)
      return { status: 200, body: listed(collection, url.searchParams), collection };
    if (request.method === 'GET') {
      const record = collection === 'billing_request_flows' ? undefined : stores[collection]!.get(id!);
      if (!record) throw misuse(404, 'resource_not_found');
      if (record.isRemoved) throw misuse(410, 'customer_data_removed');
      return { status: 200, body: { [collection]: record }, collection };
    }
    if (!/^application\/json/.test(request.headers['content-type'] ?? '')) throw misuse(415, 'invalid_content_type');
    const body = JSON.parse(text);
    bodies.push(body);
    if (id !== undefined && actions === 'actions') {
      // An action takes its parameters in `data`, not under the name of the collection.
      if (Object.keys(body).join() !== 'data') throw misuse(400, 'invalid_document_structure');
      return { status: 200, body: { [collection]: act(collection, id, action!) }, collection };
    }
    if (!make[collection] || id !== undefined) throw misuse(404, 'path_not_found');
    const key = request.headers['idempotency-key'] as string | undefined;
    return { status: 201, body: { [collection]: create(collection, body, key) }, collection };
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    calls.push(`${request.method} ${request.url!.split('?')[0]}`);
    const send = (status: number, body: Loose, headers: Record<string, string> = {}) =>
      void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    if (isDown) return send(500, { error: { type: 'gocardless', message: 'Internal', errors: [], code: 500 } });
    if (throttled > 0) {
      throttled -= 1;
      const reset = new Date(Date.now() + 1000).toUTCString();
      return send(429, misuse(429, 'rate_limit_exceeded').body, { 'ratelimit-reset': reset });
    }
    try {
      const { status, body, collection } = answer(request, Buffer.concat(chunks).toString());
      const place = request.method === 'POST' ? lost.indexOf(collection) : -1;
      if (place < 0) return send(status, body);
      lost.splice(place, 1);
      request.socket.destroy();
    } catch (error) {
      if (error instanceof Refused) return send(error.status, error.body);
      throw error;
    }
  }

  const event: FakeGocardless['event'] = (resource, action, fields) => ({
    id: nextId('EV'),
    created_at: now(),
    resource_type: resource,
    action,
    details: { origin: 'gocardless', cause: `${resource}_${action}`, description: 'Described.' },
    metadata: {},
    resource_metadata: {},
    ...fields,
  });

  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    customers,
    mandates,
    payments,
    refunds,
    billingRequests,
    calls,
    bodies,
    creditor,
    get refundable() {
      return fake.refundable;
    },
    set refundable(most: number) {
      fake.refundable = most;
    },
    throttle(count) {
      throttled = count;
    },
    loseNext: (collection) => void lost.push(collection),
    get isDown() {
      return isDown;
    },
    set isDown(down: boolean) {
      isDown = down;
    },
    sign(id, { scheme = 'bacs', last4 = '4411', bank = 'BARCLAYS BANK PLC' } = {}) {
      const request = billingRequests.get(id);
      const { customer } = request.links;
      const account = { id: nextId('BA'), account_number_ending: last4, bank_name: bank, links: { customer } };
      accounts.set(account.id, account);
      const mandate = {
        id: nextId('MD'),
        created_at: now(),
        status: 'pending_submission',
        scheme,
        reference: `REF-${mandates.size + 1}`,
        metadata: request.mandate_request.metadata ?? {},
        links: { customer, customer_bank_account: account.id, creditor: creditor.id },
      };
      mandates.set(mandate.id, mandate);
      request.status = 'fulfilled';
      return mandate;
    },
    move(payment, ...states) {
      return states.map((status) => {
        payment.status = status;
        return event('payments', status, { links: { payment: payment.id }, resource_metadata: payment.metadata });
      });
    },
    event,
    post(events, secret = GOCARDLESS_WEBHOOK_SECRET) {
      const body = JSON.stringify({ events, meta: { webhook_id: nextId('WB') } });
      const signature = createHmac('sha256', secret).update(body).digest('hex');
      return { body, headers: { 'content-type': 'application/json', 'webhook-signature': signature } };
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
