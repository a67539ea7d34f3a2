import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

// biome-ignore lint/suspicious/noExplicitAny: objects of Stripe, as far as we read them
type Loose = any;

export interface FakeStripe {
  url: string;
  /** Charges that were really made, oldest first. */
  intents: Loose[];
  /** Refunds that were really made, oldest first. */
  refunds: Loose[];
  /** Hosted pages on which something is paid, oldest first: what of which currency. */
  pages: { amount: number; currency: string }[];
  /**
   * The customer pays on the page that was opened last, by a debit that stays in progress, or by a transfer where the
   * page offers only that. @returns its intent
   */
  payOnPage(): Loose;
  /** Where the hosted pages send the customer afterwards, oldest first. */
  returns: string[];
  /** Requests as they came: method and path. */
  requests: string[];
  /** Customers as Stripe holds them, with their methods; tests put there what they need. */
  customers: Map<string, { fields: Loose; methods: Loose[] }>;
  /** Registered endpoints for events, oldest first. */
  endpoints: { id: string; object: string; url: string; enabled_events: string[] }[];
  /** Disputes as Stripe holds them, oldest first. */
  disputes: Loose[];
  /** The next request of a path is done at once, and answered when `answer` is called. */
  holdNext(path: string): { isDone: Promise<void>; answer: () => void };
  /** The next so many requests are refused because there were too many. */
  throttle(count: number): void;
  /** Keys that are refused from now on, as after their owner has revoked them. */
  revoked: Set<string>;
  /** Keys of accounts for which every answer is a failure of the provider itself. */
  failing: Set<string>;
  /** Whether every answer is a failure of the provider itself. */
  isDown: boolean;
  /** Sets what became of an intent meanwhile, without telling anybody. */
  set(intent: Loose, status: string): void;
  /** The customer transfers a part of what an intent asks for, or the whole; nobody is told. */
  transfer(intent: Loose, amount: number): void;
  /** An event about an object, signed as Stripe does for the endpoint that was registered last. */
  event(type: string, object: Loose, id?: string): { body: string; signature: string; path: string };
  close(): Promise<void>;
}

/** The key with which everything works; any other is refused. */
export const FAKE_KEY = 'sk_test_fake';

/** A live key that works as well: of an account that really charges. */
export const FAKE_LIVE_KEY = 'sk_live_fake';

/** A restricted key: it may read the balance and customers, and nothing else. */
export const FAKE_RESTRICTED_KEY = 'rk_test_fake';

/** A customer with this address is refused. */
export const REFUSED_EMAIL = 'refused@acme.test';

/**
 * docs.stripe.com/currencies: what an amount of three-decimal, and of whole two-decimal currencies must be a multiple
 * of.
 */
const STEPS: Record<string, number> = { bhd: 10, jod: 10, kwd: 10, omr: 10, tnd: 10, isk: 100, ugx: 100 };
const NOT_TAKEN = ['clf', 'iqd', 'irr', 'lyd'];
const LEAST = 50;
const LEAST_OF_WHOLE_CURRENCIES: Record<string, number> = { jpy: 50, krw: 100, clp: 500, mga: 10, vnd: 1000 };

function stepFault(amount: number, currency: string) {
  const step = STEPS[currency] ?? 1;
  if (!Number.isSafeInteger(amount) || amount % step !== 0)
    return { code: 'invalid_charge_amount_no_decimal_compatible', message: `Must be a multiple of ${step}.` };
}

function amountFault(amount: number, currency: string) {
  if (NOT_TAKEN.includes(currency))
    return { code: 'currency_not_supported', message: `Invalid currency: ${currency}.` };
  if (amount < (LEAST_OF_WHOLE_CURRENCIES[currency] ?? LEAST))
    return { code: 'amount_too_small', message: 'Amount too small.' };
  return stepFault(amount, currency);
}

/** Types of events that Stripe knows, as far as they are about what we do; it registers no other. */
const EVENT_TYPES = new Set([
  ...['succeeded', 'setup_failed', 'canceled', 'requires_action'].map((each) => `setup_intent.${each}`),
  ...['created', 'processing', 'requires_action', 'partially_funded', 'amount_capturable_updated'].map(
    (each) => `payment_intent.${each}`,
  ),
  ...['succeeded', 'payment_failed', 'canceled'].map((each) => `payment_intent.${each}`),
  ...['attached', 'detached', 'updated', 'automatically_updated'].map((each) => `payment_method.${each}`),
  ...['created', 'updated', 'deleted'].map((each) => `customer.${each}`),
  ...['created', 'updated', 'closed', 'funds_withdrawn', 'funds_reinstated'].map((each) => `charge.dispute.${each}`),
  ...['created', 'updated', 'failed'].map((each) => `refund.${each}`),
  ...['charge.refunded', 'charge.refund.updated', 'mandate.updated', 'checkout.session.completed'],
]);

/** docs.stripe.com/payments/bank-transfers: by which kind of transfer a currency is paid. */
const TRANSFERS: Record<string, string> = {
  eur: 'eu_bank_transfer',
  gbp: 'gb_bank_transfer',
  jpy: 'jp_bank_transfer',
  mxn: 'mx_bank_transfer',
  usd: 'us_bank_transfer',
};
const EURO_COUNTRIES = ['BE', 'DE', 'ES', 'FR', 'IE', 'NL'];

/** What Stripe refuses about the options of a transfer. */
function transferFault(body: URLSearchParams, currency: string): string | undefined {
  const option = (name: string) => body.get(`payment_method_options[customer_balance]${name}`);
  if (body.get('customer') === null) return 'A customer is required for customer_balance.';
  if (option('[funding_type]') !== 'bank_transfer') return 'You must specify funding_type.';
  const kind = TRANSFERS[currency];
  if (kind === undefined || option('[bank_transfer][type]') !== kind)
    return `The currency ${currency} is not supported by this bank transfer.`;
  const country = option('[bank_transfer][eu_bank_transfer][country]');
  if ((kind === 'eu_bank_transfer') !== (country !== null)) return 'eu_bank_transfer and no other has a country.';
  if (country !== null && !EURO_COUNTRIES.includes(country)) return `Invalid country: ${country}.`;
}

/** Where the customer transfers the money of an intent, by the options of the request for it. */
function transferInstructions(intent: Loose, body: URLSearchParams): Loose {
  const option = (name: string) => body.get(`payment_method_options[customer_balance][bank_transfer]${name}`);
  const iban = {
    account_holder_name: 'Stripe Technology Europe Limited',
    bic: 'SXPYDEHH',
    country: option('[eu_bank_transfer][country]'),
    iban: 'DE11243460760600000000',
  };
  return {
    type: 'display_bank_transfer_instructions',
    display_bank_transfer_instructions: {
      amount_remaining: intent.amount,
      currency: intent.currency,
      financial_addresses: [{ type: 'iban', iban, supported_networks: ['sepa'] }],
      hosted_instructions_url: `https://payments.stripe.test/bank_transfers/${intent.id}`,
      reference: `REF${intent.id.toUpperCase().replace('_', '')}`,
      type: option('[type]'),
    },
  };
}

/** What Stripe refuses about the kinds of payment of a page. */
function pageFault(body: URLSearchParams, currency: string): string | undefined {
  const kinds = [...body].filter(([name]) => name.startsWith('allowed_payment_method_types')).map(([, kind]) => kind);
  const unstored = kinds.filter((kind): boolean => kind === 'customer_balance' || kind === 'crypto');
  if (body.get('mode') === 'setup')
    return unstored.length > 0 ? `${unstored[0]} cannot be used in setup mode.` : undefined;
  if (kinds.includes('customer_balance') && transferFault(body, currency)) return transferFault(body, currency);
  const isKept = body.get('payment_intent_data[setup_future_usage]') !== null;
  const offered = kinds.filter(
    (kind) => !(unstored.includes(kind) && isKept) && !(kind === 'crypto' && currency !== 'usd'),
  );
  if (offered.length === 0) return 'No valid payment method types for this Checkout Session.';
  if (offered.length < kinds.length)
    return `The page would not offer ${kinds.filter((each) => !offered.includes(each))}.`;
}

/**
 * Stripe, as far as we call it, with idempotency keys. What a charge does is named by its method: `pm_ok`,
 * `pm_declined`, `pm_slow` (stays `processing`), `pm_breaks` (charges, and the line breaks before the first answer),
 * `pm_down` (twice 500), `pm_asks` (authentication required), `pm_india` (the same without its customer; otherwise it
 * waits for the customer's confirmation). Refunds of what it paid: `pm_refund_slow` (stays `pending`),
 * `pm_refund_fails` (made, and `failed` at once), `pm_refund_refused`, `pm_refund_breaks` (refunds, and the line breaks
 * before the first answer).
 */
export async function fakeStripe(): Promise<FakeStripe> {
  const intents: Loose[] = [];
  const refunds: Loose[] = [];
  const pages: FakeStripe['pages'] = [];
  const returns: string[] = [];
  const requests: string[] = [];
  const revoked = new Set<string>();
  const failing = new Set<string>();
  let isDown = false;
  const answers = new Map<string, { asked: string; status: number; body: Loose }>();
  const failures = new Map<string, number>();
  const customers: FakeStripe['customers'] = new Map();
  const disputes: Loose[] = [];
  const endpoints: FakeStripe['endpoints'] = [];
  const sessions = new Map<string, Loose>();
  let throttled = 0;
  const held = new Map<string, { done: () => void; answered: Promise<void> }>();
  let endpoint = { url: '', secret: '' };
  let count = 0;
  const nextId = (prefix: string) => {
    count += 1;
    return `${prefix}_${count}`;
  };
  const error = (status: number, fields: object) => ({ status, body: { error: { type: 'card_error', ...fields } } });

  const metadataOf = (body: URLSearchParams) =>
    Object.fromEntries(
      [...body].flatMap(([name, value]) => [[/^metadata\[(\w+)\]$/.exec(name)?.[1], value]]).filter(([name]) => name),
    );

  /** A page of records, newest first, as every list of Stripe. */
  function listed(records: Loose[], query: URLSearchParams) {
    const limit = Number(query.get('limit') ?? 10);
    if (!(limit >= 1 && limit <= 100))
      return error(400, { type: 'invalid_request_error', code: 'parameter_invalid_integer', message: 'limit' });
    const since = Number(query.get('created[gte]') ?? 0);
    const until = Number(query.get('created[lte]') ?? Number.POSITIVE_INFINITY);
    const newest = [...records]
      .reverse()
      .filter(({ created }) => created === undefined || (created >= since && created <= until));
    const cursor = query.get('starting_after');
    const from = cursor === null ? 0 : newest.findIndex(({ id }) => id === cursor) + 1;
    if (cursor !== null && from === 0)
      return error(400, { type: 'invalid_request_error', code: 'resource_missing', message: `No such: ${cursor}` });
    const data = newest.slice(from, from + limit);
    return { status: 200, body: { object: 'list', data, has_more: from + limit < newest.length } };
  }

  function read(path: string, query: URLSearchParams) {
    if (path === '/v1/payment_intents') return listed(intents, query);
    if (path === '/v1/refunds') return listed(refunds, query);
    if (path === '/v1/disputes') return listed(disputes, query);
    if (path === '/v1/webhook_endpoints') return listed(endpoints, query);
    if (path === '/v1/customers')
      return listed(
        [...customers].map(([id, { fields }]) => ({ id, ...fields })),
        query,
      );
    const session = sessions.get(/^\/v1\/checkout\/sessions\/(\w+)$/.exec(path)?.[1] ?? '');
    if (session) return { status: 200, body: session };
    const [, id, isList] = /^\/v1\/customers\/(\w+)(\/payment_methods)?$/.exec(path) ?? [];
    const customer = id === undefined ? undefined : customers.get(id);
    if (customer) return isList ? listed(customer.methods, query) : { status: 200, body: { id, ...customer.fields } };
  }

  function charge(body: URLSearchParams, livemode: boolean) {
    const method = body.get('payment_method')!;
    const fault = amountFault(Number(body.get('amount')), body.get('currency')!);
    if (fault) return error(400, { type: 'invalid_request_error', ...fault });
    const [isAway, returnUrl] = [body.get('off_session') === 'true', body.get('return_url')];
    const isTransfer = body.get('payment_method_data[type]') === 'customer_balance';
    const refused = isTransfer ? transferFault(body, body.get('currency')!) : undefined;
    if (refused !== undefined || (isTransfer && (isAway || method !== null)))
      return error(400, {
        type: 'invalid_request_error',
        code: 'parameter_invalid',
        message: refused ?? 'customer_balance is neither stored nor charged off session.',
      });
    if (!isTransfer && isAway === (returnUrl !== null))
      return error(400, {
        type: 'invalid_request_error',
        code: isAway ? 'parameter_unknown' : 'parameter_missing',
        message: 'A charge that its customer confirms needs a return_url, and no other may have one.',
      });
    const intent: Loose = {
      id: nextId('pi'),
      object: 'payment_intent',
      amount: Number(body.get('amount')),
      amount_received: 0,
      currency: body.get('currency'),
      customer: body.get('customer'),
      payment_method: method,
      metadata: metadataOf(body),
      livemode,
      created: Math.trunc(Date.now() / 1000),
      status:
        method === 'pm_slow'
          ? 'processing'
          : body.get('capture_method') === 'manual'
            ? 'requires_capture'
            : 'succeeded',
      last_payment_error: null,
      next_action: null,
    };
    if (isTransfer) {
      intent.status = 'requires_action';
      intent.next_action = transferInstructions(intent, body);
    }
    if (method === 'pm_india' && !isAway) {
      intent.status = 'requires_action';
      intent.next_action = {
        type: 'redirect_to_url',
        redirect_to_url: { url: `https://hooks.stripe.test/${intent.id}`, return_url: returnUrl },
      };
    }
    if (method === 'pm_declined' || method === 'pm_asks' || (method === 'pm_india' && isAway)) {
      intent.status = 'requires_payment_method';
      const code = method === 'pm_declined' ? 'card_declined' : 'authentication_required';
      return error(402, { code, message: 'No.', payment_intent: intent });
    }
    intents.push(intent);
    return { status: 200, body: intent };
  }

  function refund(body: URLSearchParams) {
    const method = methodOf(body);
    if (method === 'pm_refund_refused')
      return error(400, { type: 'invalid_request_error', code: 'charge_disputed', message: 'Disputed.' });
    const amount = Number(body.get('amount'));
    const paid = intents.find(({ id }) => id === body.get('payment_intent'));
    const before = refunds
      .filter((each) => each.payment_intent === paid?.id && each.status !== 'failed')
      .reduce((all, each) => all + each.amount, 0);
    if (!paid || before + amount > paid.amount)
      return error(400, { type: 'invalid_request_error', code: 'charge_already_refunded', message: 'Too much.' });
    const fault = stepFault(amount, paid.currency);
    if (fault) return error(400, { type: 'invalid_request_error', ...fault });
    const made: Loose = {
      id: nextId('re'),
      object: 'refund',
      payment_intent: body.get('payment_intent'),
      amount,
      currency: paid.currency,
      reason: body.get('reason'),
      metadata: { credit_note_id: body.get('metadata[credit_note_id]') },
      status: method === 'pm_refund_slow' ? 'pending' : method === 'pm_refund_fails' ? 'failed' : 'succeeded',
    };
    refunds.push(made);
    return { status: 200, body: made };
  }

  /** The method that a request is about: its own, or that of the payment which it names. */
  const methodOf = (body: URLSearchParams): string | null =>
    body.get('payment_method') ?? intents.find(({ id }) => id === body.get('payment_intent'))?.payment_method ?? null;

  function answer(path: string, body: URLSearchParams, livemode: boolean): { status: number; body: Loose } {
    if (path === '/v1/payment_intents') return charge(body, livemode);
    if (path === '/v1/balance') return { status: 200, body: { object: 'balance', livemode, available: [] } };
    if (path === '/v1/customers' && body.get('email') === REFUSED_EMAIL)
      return error(400, { type: 'invalid_request_error', code: 'email_invalid', message: 'Invalid email address.' });
    if (path === '/v1/customers') return { status: 200, body: { id: nextId('cus'), object: 'customer' } };
    if (path === '/v1/webhook_endpoints') {
      const types = [...body].filter(([name]) => name.startsWith('enabled_events')).map(([, type]) => type);
      const unknown = types.find((type) => !EVENT_TYPES.has(type));
      if (types.length === 0 || unknown !== undefined)
        return error(400, { type: 'invalid_request_error', message: `Invalid enabled_events: ${unknown ?? ''}.` });
      endpoint = { url: body.get('url')!, secret: `whsec_${nextId('secret')}` };
      const id = nextId('we');
      endpoints.push({ id, object: 'webhook_endpoint', url: endpoint.url, enabled_events: types });
      return { status: 200, body: { ...endpoints.at(-1), secret: endpoint.secret } };
    }
    const ended = endpoints.findIndex(({ id }) => path === `/v1/webhook_endpoints/${id}`);
    if (ended >= 0) {
      const [{ id } = { id: '' }] = endpoints.splice(ended, 1);
      return { status: 200, body: { id, object: 'webhook_endpoint', deleted: true } };
    }
    if (path === '/v1/checkout/sessions') {
      const line = (field: string) => body.get(`line_items[0][price_data][${field}]`);
      const fault = body.get('mode') === 'payment' && amountFault(Number(line('unit_amount')), line('currency')!);
      if (fault) return error(400, { type: 'invalid_request_error', ...fault });
      const refused = pageFault(body, line('currency') ?? '');
      if (refused) return error(400, { type: 'invalid_request_error', message: refused });
      if (body.get('mode') === 'payment')
        pages.push({ amount: Number(line('unit_amount')), currency: line('currency')! });
      returns.push(body.get('success_url')!);
      const id = nextId('cs');
      const metadata = Object.fromEntries(
        [...body].flatMap(([name, value]) => {
          const field = /^payment_intent_data\[metadata\]\[(\w+)\]$/.exec(name)?.[1];
          return field === undefined ? [] : [[field, value]];
        }),
      );
      const asked = { amount: Number(line('unit_amount')), currency: line('currency'), metadata };
      sessions.set(id, { id, object: 'checkout.session', status: 'open', payment_intent: null, asked, body });
      return { status: 200, body: { id, object: 'checkout.session', url: `https://pay.test/${id}` } };
    }
    const expired = sessions.get(/^\/v1\/checkout\/sessions\/(\w+)\/expire$/.exec(path)?.[1] ?? '');
    if (expired && expired.status !== 'open')
      return error(400, { type: 'invalid_request_error', message: 'Only open Checkout Sessions can be expired.' });
    if (expired) {
      expired.status = 'expired';
      return { status: 200, body: expired };
    }
    if (path === '/v1/refunds') return refund(body);
    const canceled = intents.find(({ id }) => path === `/v1/payment_intents/${id}/cancel`);
    if (canceled?.status === 'succeeded')
      return error(400, {
        type: 'invalid_request_error',
        code: 'payment_intent_unexpected_state',
        message: 'Too late.',
      });
    if (canceled) Object.assign(canceled, { status: 'canceled', next_action: null });
    const refunded = refunds.find(({ id }) => path === `/v1/refunds/${id}`);
    if (refunded) return { status: 200, body: refunded };
    const intent = canceled ?? intents.find(({ id }) => path === `/v1/payment_intents/${id}`);
    return intent
      ? { status: 200, body: intent }
      : error(404, { type: 'invalid_request_error', code: 'resource_missing', message: 'No such thing.' });
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = new URLSearchParams(Buffer.concat(chunks).toString());
    const path = request.url!.split('?')[0]!;
    requests.push(`${request.method} ${path}`);
    const send = ({ status, body: json }: { status: number; body: Loose }) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
    };
    if (throttled > 0) {
      throttled -= 1;
      response.setHeader('retry-after', '1');
      return send(error(429, { type: 'rate_limit_error', code: 'rate_limit', message: 'Too many requests.' }));
    }
    const livemode = request.headers.authorization === `Bearer ${FAKE_LIVE_KEY}`;
    const isFailing = [...failing].some((key) => request.headers.authorization === `Bearer ${key}`);
    if (isDown || isFailing) return send(error(500, { type: 'api_error', message: 'Down.' }));
    const isRestricted = request.headers.authorization === `Bearer ${FAKE_RESTRICTED_KEY}`;
    if (isRestricted && !/^\/v1\/(balance|customers)/.test(path))
      return send(
        error(403, {
          type: 'invalid_request_error',
          message: `The provided key 'rk_test_***fake' does not have the required permissions. Having the 'rak_${path.split('/')[2]}' permission would allow this request to continue.`,
        }),
      );
    const isKnown = [FAKE_KEY, FAKE_LIVE_KEY, FAKE_RESTRICTED_KEY].some(
      (known) => request.headers.authorization === `Bearer ${known}` && !revoked.has(known),
    );
    if (!isKnown) return send(error(401, { type: 'invalid_request_error', message: 'Invalid API Key provided.' }));
    const found = request.method === 'GET' ? read(path, new URLSearchParams(request.url!.split('?')[1])) : undefined;
    if (found) return send(found);
    const method = body.get('payment_method');
    const key = request.headers['idempotency-key'] as string | undefined;
    const failed = failures.get(key ?? '') ?? 0;
    failures.set(key ?? '', failed + 1);
    if (method === 'pm_down' && failed < 2) return send(error(500, { type: 'api_error', message: 'Down.' }));
    const known = key === undefined ? undefined : answers.get(key);
    const asked = `${request.method} ${path} ${body}`;
    if (known && known.asked !== asked)
      return send(error(400, { type: 'idempotency_error', message: 'The key was used with other parameters.' }));
    const made = known ?? { asked, ...answer(path, body, livemode) };
    if (key !== undefined) answers.set(key, made);
    const hold = held.get(path);
    if (hold) {
      held.delete(path);
      hold.done();
      await hold.answered;
    }
    const breaks = method === 'pm_breaks' || (path === '/v1/refunds' && methodOf(body) === 'pm_refund_breaks');
    if (breaks && failed === 0) return void request.socket.destroy();
    send(made);
  }

  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    intents,
    refunds,
    pages,
    payOnPage() {
      const session = [...sessions.values()].at(-1);
      if (session?.status !== 'open') throw new Error(`The page is ${session?.status}.`);
      const isTransfer = session.body.get('payment_method_options[customer_balance][funding_type]') !== null;
      const intent: Loose = {
        id: nextId('pi'),
        object: 'payment_intent',
        ...session.asked,
        amount_received: 0,
        created: Math.trunc(Date.now() / 1000),
        status: isTransfer ? 'requires_action' : 'processing',
        last_payment_error: null,
        next_action: null,
      };
      if (isTransfer) intent.next_action = transferInstructions(intent, session.body);
      intents.push(intent);
      Object.assign(session, { status: 'complete', payment_intent: intent });
      return intent;
    },
    returns,
    requests,
    customers,
    disputes,
    endpoints,
    holdNext(path) {
      let answer = () => {};
      let done = () => {};
      const answered = new Promise<void>((resolve) => {
        answer = resolve;
      });
      const isDone = new Promise<void>((resolve) => {
        done = resolve;
      });
      held.set(path, { done, answered });
      return { isDone, answer };
    },
    throttle(count) {
      throttled = count;
    },
    revoked,
    failing,
    get isDown() {
      return isDown;
    },
    set isDown(down: boolean) {
      isDown = down;
    },
    transfer(intent, amount) {
      const said = intent.next_action?.display_bank_transfer_instructions;
      if (!said || amount > said.amount_remaining) throw new Error('Nothing, or less, is to be transferred.');
      said.amount_remaining -= amount;
      intent.amount_received += amount;
      if (said.amount_remaining > 0) return;
      Object.assign(intent, { status: 'succeeded', next_action: null });
    },
    set(intent, status) {
      intent.status = status;
      if (status === 'succeeded') intent.amount_received = intent.amount;
    },
    event(type, object, id = nextId('evt')) {
      if (!endpoints.some(({ url, enabled_events }) => url === endpoint.url && enabled_events.includes(type)))
        throw new Error(`Stripe does not send ${type} to ${endpoint.url}.`);
      const body = JSON.stringify({ id, object: 'event', type, data: { object } });
      const at = Math.trunc(Date.now() / 1000);
      const hex = createHmac('sha256', endpoint.secret).update(`${at}.${body}`).digest('hex');
      return { body, signature: `t=${at},v1=${hex}`, path: endpoint.url.slice(endpoint.url.indexOf('/webhooks/')) };
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
