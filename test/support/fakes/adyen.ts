import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

// biome-ignore lint/suspicious/noExplicitAny: records of Adyen, as far as we read them
type Loose = any;

/** The key with which everything works; any other is refused. */
export const ADYEN_KEY = 'AQEtest.good';
/** A key without the role for stored methods and payments. */
export const ADYEN_KEY_WITHOUT_ROLE = 'AQEtest.norole';
export const ADYEN_ACCOUNT = 'AcmeECOM';
export const ADYEN_HMAC_KEY = '44782def547aaa06c910c43932b1eb0c71fc68d9d0c057550c48ec2acf6ba056';

export interface FakeAdyen {
  url: string;
  /** Payments that were really made, oldest first. */
  payments: Loose[];
  refunds: Loose[];
  cancels: Loose[];
  links: Map<string, Loose>;
  /** Stored methods by id: of which shopper, of which kind. */
  stored: Map<string, Loose>;
  /** What a charge of a stored method ends with, by its id, where its name does not say it. */
  results: Map<string, Loose>;
  /** Calls as they came: method and path behind the version. */
  calls: string[];
  /** Bodies of the calls that had one, and what each was answered, oldest first. */
  exchanges: { path: string; body: Loose; answer: Loose }[];
  throttle(count: number): void;
  /** The next call of a path is done, and its answer is lost. */
  loseNext(path: string): void;
  /** The next call of a path is done, and its answer waits for the returned function. */
  holdNext(path: string): () => void;
  /** The next call of a path is refused before it is looked at: by the keys of the account, or by a proxy in front. */
  refuseNext(path: string, refusal: { status: number; isByProxy?: boolean }): void;
  /** Calls with this key are answered as if the first one were still under way. */
  underWay: Set<string>;
  isDown: boolean;
  /** The shopper pays or stores a card on a page; the item that reports it. */
  finish(linkId: string, result?: { success?: boolean }): Loose;
  /** A shopper who was sent away comes back with a result: the address to which the issuer's page leads. */
  comeBack(reference: string, result?: Loose): string;
  /** An item about a payment. */
  item(eventCode: string, fields?: Loose): Loose;
  /** A body with items, each signed. */
  post(items: Loose[], key?: string): { body: string; headers: Record<string, string> };
  close(): Promise<void>;
}

class Refused extends Error {
  readonly status: number;
  readonly body: Loose;
  readonly headers: Record<string, string>;

  constructor(status: number, errorCode: string, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
    const errorType = status === 401 || status === 403 ? 'security' : 'validation';
    this.body = { status, errorCode, message, errorType };
  }
}

const invalid = (code: string, message: string) => new Refused(422, code, message);

/** Fields that a call takes; another one is refused. */
const FIELDS: Record<string, string[]> = {
  '/payments': [
    ...['merchantAccount', 'amount', 'reference', 'paymentMethod', 'shopperReference', 'shopperInteraction'],
    ...['recurringProcessingModel', 'returnUrl', 'metadata'],
  ],
  '/paymentLinks': [
    ...['merchantAccount', 'amount', 'reference', 'returnUrl', 'shopperReference', 'recurringProcessingModel'],
    ...['storePaymentMethodMode', 'reusable', 'description', 'expiresAt', 'metadata', 'shopperEmail', 'countryCode'],
  ],
  '/payments/details': ['details', 'paymentData', 'authenticationData', 'threeDSAuthenticationOnly'],
  '/paymentMethods': ['merchantAccount', 'amount', 'shopperReference'],
  '/refunds': ['merchantAccount', 'amount', 'reference', 'merchantRefundReason'],
  '/cancels': ['merchantAccount', 'reference'],
  '/paymentLinks/{id}': ['status', 'expiresAt'],
};
const REASONS = ['FRAUD', 'CUSTOMER REQUEST', 'RETURN', 'DUPLICATE', 'OTHER'];
const NOT_TAKEN = ['CLF', 'IRR'];
const KEY_MAX = 64;
const REFERENCE_MAX = 80;
const DAY_MS = 86_400_000;

/** What a charge of a stored method ends with, named by the method. */
const RESULTS: Record<string, Loose> = {
  declined: { resultCode: 'Refused', refusalReason: 'Not enough balance', refusalReasonCode: '12' },
  redirect: {
    resultCode: 'RedirectShopper',
    action: { type: 'redirect', url: 'https://issuer.test/3ds', method: 'GET', paymentMethodType: 'scheme' },
  },
  received: { resultCode: 'Received' },
};

function demandAmount(amount: Loose, { zero = false } = {}): void {
  if (typeof amount?.currency !== 'string' || NOT_TAKEN.includes(amount.currency))
    throw invalid('138', 'Currency not supported');
  if (!Number.isSafeInteger(amount.value) || amount.value < 0 || (amount.value === 0 && !zero))
    throw invalid('137', 'Invalid amount specified');
}

/**
 * Adyen's Checkout interface, as far as we call it: it refuses what the real one refuses (unknown fields, another
 * merchant account, methods of another shopper, more refunds than were paid, long references and keys) and repeats its
 * first answer to a key. A result of a shopper who comes back is taken once. What a charge does is named by its
 * method: `…declined`, `…redirect`, `…received`.
 */
export async function fakeAdyen(): Promise<FakeAdyen> {
  const [payments, refunds, cancels, calls, lost]: [Loose[], Loose[], Loose[], string[], string[]] = [
    [],
    [],
    [],
    [],
    [],
  ];
  const [links, stored, answers] = [new Map<string, Loose>(), new Map<string, Loose>(), new Map<string, Loose>()];
  const results = new Map<string, Loose>();
  const returns = new Map<string, { payment: Loose; result: Loose; isUsed: boolean }>();
  const underWay = new Set<string>();
  const exchanges: FakeAdyen['exchanges'] = [];
  const held: { path: string; isOver: Promise<void> }[] = [];
  const refused: { path: string; status: number; isByProxy?: boolean }[] = [];
  let [throttled, serial, isDown] = [0, 0, false];
  const nextId = (prefix: string) => {
    serial += 1;
    return `${prefix}${String(serial).padStart(12, '0')}`;
  };

  function demandFields(kind: string, body: Loose): void {
    for (const name of Object.keys(body))
      if (!FIELDS[kind]!.includes(name)) throw invalid('702', `Unexpected field: ${name}`);
    if (body.merchantAccount !== ADYEN_ACCOUNT) throw new Refused(403, '901', 'Invalid Merchant Account');
    if (kind !== '/paymentMethods' && (!body.reference || body.reference.length > REFERENCE_MAX))
      throw invalid('130', "Required field 'reference' is not provided.");
  }

  function methodsOf(body: Loose): Loose {
    demandFields('/paymentMethods', body);
    return { paymentMethods: [] };
  }

  function pay(body: Loose): Loose {
    demandFields('/payments', body);
    demandAmount(body.amount);
    if (!/^https?:/.test(body.returnUrl ?? '')) throw invalid('14_030', "Required field 'returnUrl' is not provided.");
    const method = stored.get(body.paymentMethod?.storedPaymentMethodId);
    if (!method || method.shopperReference !== body.shopperReference) throw invalid('800', 'Contract not found');
    if (method.type !== body.paymentMethod.type) throw invalid('14_004', 'Missing payment method details: type');
    if (body.shopperInteraction !== 'ContAuth' || !body.recurringProcessingModel)
      throw invalid('14_0438', 'Required field shopperInteraction');
    const ending = /(declined|redirect|received)$/.exec(method.id)?.[1];
    const result = results.get(method.id) ?? (ending ? RESULTS[ending] : { resultCode: 'Authorised' });
    const pspReference = nextId('PSP');
    const made = { ...body, ...result, pspReference, merchantReference: body.reference, refunded: 0 };
    payments.push(made);
    const { resultCode, refusalReason, refusalReasonCode, action } = made;
    // Of a shopper who is sent away there is no payment yet.
    const named = resultCode === 'RedirectShopper' ? {} : { pspReference };
    const { amount } = made;
    const told = { resultCode, refusalReason, refusalReasonCode, action, merchantReference: body.reference, amount };
    return { ...named, ...told };
  }

  function detail(body: Loose): Loose {
    const unknown = Object.keys(body).find((name) => !FIELDS['/payments/details']!.includes(name));
    if (unknown) throw invalid('702', `Unexpected field: ${unknown}`);
    const names = Object.keys(body.details ?? {});
    if (names.length === 0) throw invalid('14_003', "Required field 'details' is not provided.");
    if (names.some((name) => name !== 'redirectResult')) throw invalid('702', 'Unexpected field in details');
    const found = returns.get(body.details.redirectResult);
    if (!found) throw invalid('14_0402', 'Invalid redirectResult');
    if (found.isUsed) throw invalid('704', 'request already processed or in progress');
    found.isUsed = true;
    const { payment, result } = found;
    Object.assign(payment, result);
    const { pspReference, reference: merchantReference, amount } = payment;
    return { pspReference, merchantReference, amount, ...result };
  }

  function link(body: Loose): Loose {
    demandFields('/paymentLinks', body);
    demandAmount(body.amount, { zero: body.storePaymentMethodMode === 'enabled' });
    if (body.storePaymentMethodMode && !body.shopperReference) throw invalid('14_0006', 'shopperReference is missing');
    if (body.shopperReference?.length < 3) throw invalid('14_0007', 'shopperReference is too short');
    const id = nextId('PL');
    const made = { ...body, id, status: 'active', url: `https://test.adyen.link/${id}` };
    links.set(id, made);
    return { ...made, expiresAt: new Date(Date.now() + DAY_MS).toISOString() };
  }

  function change(id: string, body: Loose): Loose {
    const found = links.get(id);
    if (!found) throw new Refused(404, '30_101', 'Payment link not found');
    if (body.status !== 'expired') throw invalid('30_102', 'Only status expired may be set');
    const unknown = Object.keys(body).find((name) => !FIELDS['/paymentLinks/{id}']!.includes(name));
    if (unknown) throw invalid('702', `Unexpected field: ${unknown}`);
    if (found.status !== 'active') throw invalid('30_103', `Payment link is ${found.status}`);
    found.status = 'expired';
    return found;
  }

  function modify(psp: string, kind: string, body: Loose): Loose {
    demandFields(`/${kind}`, body);
    const payment = payments.find(({ pspReference }) => pspReference === psp);
    if (!payment) throw invalid('167', 'Original pspReference required for this operation');
    const taken: Loose = { pspReference: nextId('MOD'), paymentPspReference: psp, status: 'received', ...body };
    if (kind === 'cancels') {
      cancels.push(taken);
      return taken;
    }
    demandAmount(body.amount);
    if (body.amount.currency !== payment.amount.currency) throw invalid('138', 'Currency differs from the payment');
    if (body.merchantRefundReason && !REASONS.includes(body.merchantRefundReason))
      throw invalid('702', 'Invalid merchantRefundReason');
    if (payment.refunded + body.amount.value > payment.amount.value)
      throw invalid('137', 'Refunded amount is more than the captured amount');
    payment.refunded += body.amount.value;
    refunds.push(taken);
    return taken;
  }

  function answer(request: IncomingMessage, text: string): { status: number; body: Loose } {
    const url = new URL(request.url!, 'http://x');
    if (!url.pathname.startsWith('/v72/')) throw new Refused(404, '000', 'Not found');
    const path = url.pathname.slice('/v72'.length);
    const given = request.headers['x-api-key'];
    if (given !== ADYEN_KEY && given !== ADYEN_KEY_WITHOUT_ROLE)
      throw new Refused(401, '000', 'HTTP Status Response - Unauthorized');
    if (given === ADYEN_KEY_WITHOUT_ROLE && path !== '/paymentMethods') throw new Refused(403, '010', 'Not allowed');
    if (request.method === 'GET' && path === '/storedPaymentMethods') {
      if (url.searchParams.get('merchantAccount') !== ADYEN_ACCOUNT)
        throw new Refused(403, '901', 'Invalid Merchant Account');
      const shopper = url.searchParams.get('shopperReference');
      const found = [...stored.values()].filter(({ shopperReference }) => shopperReference === shopper);
      return {
        status: 200,
        body: { merchantAccount: ADYEN_ACCOUNT, shopperReference: shopper, storedPaymentMethods: found },
      };
    }
    if (request.method === 'GET') {
      const found = links.get(/^\/paymentLinks\/([^/]+)$/.exec(path)?.[1] ?? '');
      if (!found) throw new Refused(404, '30_101', 'Payment link not found');
      return { status: 200, body: found };
    }
    const key = request.headers['idempotency-key'] as string | undefined;
    if (key !== undefined && key.length > KEY_MAX) throw invalid('702', 'Idempotency-Key is too long');
    if (key !== undefined && underWay.has(key))
      throw new Refused(422, '704', 'request already processed or in progress', { 'transient-error': 'true' });
    const known = key === undefined ? undefined : answers.get(key);
    if (known) return known;
    const body = JSON.parse(text);
    const [, psp, kind] = /^\/payments\/([^/]+)\/(refunds|cancels)$/.exec(path) ?? [];
    const linkId = /^\/paymentLinks\/([^/]+)$/.exec(path)?.[1];
    const made =
      path === '/paymentMethods'
        ? { status: 200, body: methodsOf(body) }
        : path === '/payments'
          ? { status: 200, body: pay(body) }
          : path === '/payments/details'
            ? { status: 200, body: detail(body) }
            : path === '/paymentLinks'
              ? { status: 201, body: link(body) }
              : linkId !== undefined && request.method === 'PATCH'
                ? { status: 200, body: change(linkId, body) }
                : psp !== undefined
                  ? { status: 201, body: modify(psp, kind!, body) }
                  : undefined;
    if (!made) throw new Refused(404, '000', 'Not found');
    if (key !== undefined) answers.set(key, made);
    return made;
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const path = request.url!.split('?')[0]!.replace(/^\/v72/, '');
    calls.push(`${request.method} ${path}`);
    const send = (status: number, body: Loose, headers: Record<string, string> = {}) =>
      void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    if (isDown) return send(500, { status: 500, errorCode: '905', message: 'Internal error', errorType: 'internal' });
    if (throttled > 0) {
      throttled -= 1;
      return send(429, { status: 429, errorCode: '000', message: 'Too many requests' }, { 'retry-after': '1' });
    }
    try {
      const text = Buffer.concat(chunks).toString();
      if (!lost.includes(path)) {
        const refusal = refused.findIndex((each) => each.path === path);
        const { status, isByProxy } = refused.splice(refusal, refusal < 0 ? 0 : 1)[0] ?? {};
        if (isByProxy) return void response.writeHead(status!, { 'content-type': 'text/html' }).end('<h1>Blocked</h1>');
        if (status !== undefined) throw new Refused(status, '000', 'Refused');
      }
      const { status, body } = answer(request, text);
      if (text !== '') exchanges.push({ path, body: JSON.parse(text), answer: body });
      const holding = held.findIndex((each) => each.path === path);
      if (holding >= 0) await held.splice(holding, 1)[0]!.isOver;
      const place = lost.indexOf(path);
      if (place < 0) return send(status, body);
      lost.splice(place, 1);
      request.socket.destroy();
    } catch (error) {
      if (error instanceof Refused) return send(error.status, error.body, error.headers);
      throw error;
    }
  }

  /** A second an item, so that they have an order. */
  const nextDate = () => {
    serial += 1;
    return new Date(Date.now() + serial * 1000).toISOString();
  };

  const item: FakeAdyen['item'] = (eventCode, fields = {}) => ({
    amount: { currency: 'EUR', value: 0 },
    eventCode,
    eventDate: nextDate(),
    merchantAccountCode: ADYEN_ACCOUNT,
    merchantReference: '',
    originalReference: '',
    paymentMethod: 'visa',
    pspReference: nextId('EVT'),
    reason: '',
    success: 'true',
    ...fields,
    additionalData: { ...fields.additionalData },
  });

  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    payments,
    refunds,
    cancels,
    links,
    stored,
    results,
    calls,
    exchanges,
    throttle(count) {
      throttled = count;
    },
    loseNext: (path) => void lost.push(path),
    holdNext(path) {
      let release = () => {};
      const isOver = new Promise<void>((resolve) => {
        release = resolve;
      });
      held.push({ path, isOver });
      return release;
    },
    refuseNext: (path, refusal) => void refused.push({ path, ...refusal }),
    underWay,
    get isDown() {
      return isDown;
    },
    set isDown(down: boolean) {
      isDown = down;
    },
    finish(linkId, { success = true } = {}) {
      const page = links.get(linkId);
      const pspReference = nextId('PSP');
      const common = {
        pspReference,
        amount: page.amount,
        merchantReference: page.reference,
        success: String(success),
        reason: success ? '033899:1111:03/2030' : 'Not enough balance',
      };
      if (!success) return item('AUTHORISATION', common);
      page.status = 'completed';
      const method = {
        id: nextId('CARD'),
        type: 'scheme',
        brand: 'visa',
        lastFour: '1111',
        expiryMonth: '3',
        expiryYear: '2030',
        shopperReference: page.shopperReference,
      };
      stored.set(method.id, method);
      payments.push({ ...page, pspReference, resultCode: 'Authorised', refunded: 0 });
      return item('AUTHORISATION', {
        ...common,
        additionalData: {
          cardSummary: '1111',
          expiryDate: '3/2030',
          'recurring.recurringDetailReference': method.id,
          'recurring.shopperReference': page.shopperReference,
        },
      });
    },
    comeBack(reference, result = { resultCode: 'Authorised' }) {
      const payment = payments.find((each) => each.reference === reference);
      const redirectResult = nextId('X+/=');
      returns.set(redirectResult, { payment, result, isUsed: false });
      const address = new URL(payment.returnUrl);
      address.searchParams.append('redirectResult', redirectResult);
      return address.href;
    },
    item,
    post(items, key = ADYEN_HMAC_KEY) {
      const notificationItems = items.map((each) => {
        const { pspReference, originalReference, merchantAccountCode, merchantReference, amount } = each;
        const fields = [pspReference, originalReference, merchantAccountCode, merchantReference];
        const text = [...fields, amount.value, amount.currency, each.eventCode, each.success].join(':');
        const hmacSignature = createHmac('sha256', Buffer.from(key, 'hex')).update(text).digest('base64');
        return { NotificationRequestItem: { ...each, additionalData: { ...each.additionalData, hmacSignature } } };
      });
      return {
        body: JSON.stringify({ live: 'false', notificationItems }),
        headers: { 'content-type': 'application/json' },
      };
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
