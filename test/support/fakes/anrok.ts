import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

// biome-ignore lint/suspicious/noExplicitAny: bodies of Anrok, as far as we send them
type Loose = any;

/** The key with which everything works, until the double is given another; any other is refused. */
export const ANROK_KEY = 's1/sa1/secret.good';
/** The key of a second account, whose records are its own. */
export const SECOND_KEY = 's2/sa2/secret.second';

/** A transaction of an account: what it adds to the tax return unless it is voided. */
interface Recorded {
  version: number;
  body: Loose;
  voided: boolean;
  negates: string | null;
  netCents: number;
  taxCents: number;
}

export interface FakeAnrok {
  url: string;
  /** Recorded transactions of the first account by id, negations too. */
  records: Map<string, Recorded>;
  /** Those of the second account. */
  secondRecords: Map<string, Recorded>;
  /** What the accounts hold together: recorded, less what was voided or negated, of the ids that hold a text. */
  holds(partOfId: string): { netCents: number; taxCents: number };
  /** Calls as they came: path behind `transactions/`, with what was sent. */
  calls: { path: string; body: Loose }[];
  /** Ids that are known as products. */
  products: Set<string>;
  /** Documents that are part of a tax return. */
  filed: Set<string>;
  /**
   * `away`: the line breaks before anything is done; `lost`: after it was done; `busy`: 429; `broken`: 500; `odd`: it
   * was done, and the answer is `odd`.
   */
  mood: 'well' | 'away' | 'lost' | 'busy' | 'broken' | 'odd';
  /** Makes an answer odd. */
  odd: (answer: Loose) => Loose;
  /** What every document is refused with, if anything. */
  refusal: Loose;
  /** Which documents the key may not send: 403. */
  forbids: (document: Loose) => boolean;
  /** The key that is accepted. */
  key: string;
  /** What the next answers wait for. */
  gate: Promise<void> | undefined;
  close(): Promise<void>;
}

/** Sends a refusal of the interface. */
class Refused extends Error {
  readonly status: number;
  readonly body: Loose;

  constructor(status: number, body: Loose) {
    super(`${status}`);
    this.status = status;
    this.body = body;
  }
}

const conflict = (type: string, more: object = {}) => new Refused(409, { type, ...more });
const bad = (message: string) => new Refused(400, `Request body: ${message}`);

const CALLS_PER_SECOND = 10;
const AMOUNT_MOST = 100_000_000_000;
const ZONES = ['UTC', 'America/New_York', 'America/Chicago', 'America/Denver', 'America/Los_Angeles', 'Europe/London'];
const FOUR_DECIMALS = ['clf', 'uyw'];
const KEYS = [
  ...['id', 'lineItems', 'currencyCode', 'customerAddress', 'customerName', 'customerTaxIds', 'shipFromAddress'],
  ...['accountingDate', 'accountingTime', 'accountingTimeZone', 'taxDate', 'customerId'],
];
const LINE_KEYS = ['id', 'productExternalId', 'amount', 'isTaxIncludedInAmount', 'quantity'];
const ADDRESS_KEYS = ['country', 'line1', 'city', 'region', 'postalCode'];

/** Rates of the states that it knows, in millionths, and the share of an amount that is taxed. */
const STATES: Record<string, { name: string; rate: bigint; share: bigint }> = {
  CO: { name: 'Denver (local)', rate: 48_100n, share: 100n },
  NY: { name: 'New York', rate: 88_750n, share: 100n },
  TX: { name: 'Texas', rate: 82_500n, share: 80n },
};

/** A number of `digits` decimals as its text. */
function decimalText(value: bigint, digits: number): string {
  const text = String(value < 0n ? -value : value).padStart(digits + 1, '0');
  const cut = `${text.slice(0, -digits)}.${text.slice(-digits)}`.replace(/\.?0+$/, '');
  return value < 0n ? `-${cut}` : cut;
}

const roundHalfUp = (value: bigint, unit: bigint): number => {
  const sign = value < 0n ? -1n : 1n;
  return Number(sign * ((sign * value + unit / 2n) / unit));
};

function taxLine({ id, amount }: Loose, { country, region }: Loose): Loose {
  const state = ['US', 'us'].includes(country) ? STATES[region] : undefined;
  const base = { id: id ?? null, preTaxAmount: String(amount) };
  if (!state) {
    const notTaxedReason = { type: 'notCollecting' };
    return { ...base, taxAmountToCollect: 0, jurises: [{ name: region ?? country, taxes: null, notTaxedReason }] };
  }
  const exact = BigInt(amount) * state.share * state.rate; // in 1/100,000,000 of a cent
  const tax = {
    taxName: 'Tax',
    taxableAmount: decimalText(BigInt(amount) * state.share, 2),
    taxAmount: decimalText(exact, 8),
    taxRate: decimalText(state.rate, 6),
  };
  const jurises = [{ name: state.name, taxes: [tax], notTaxedReason: null }];
  return { ...base, taxAmountToCollect: roundHalfUp(exact, 100_000_000n), jurises };
}

function demandKeys(object: Loose, known: string[], where: string): void {
  const unknown = Object.keys(object).filter((key) => !known.includes(key));
  if (unknown.length > 0) throw bad(`"${where}": Unrecognized key(s) in object: '${unknown.join("', '")}'.`);
}

function demandAddress(address: Loose, where: string): void {
  if (typeof address !== 'object' || address === null) throw bad(`"${where}": Invalid input.`);
  demandKeys(address, ADDRESS_KEYS, where);
  for (const [key, part] of Object.entries(address))
    if (part === '') throw bad(`"${where}": "${key}": String must contain at least 1 character(s).`);
}

/**
 * Anrok's interface of transactions, as far as we call it: it refuses what the real one refuses. The limit of calls
 * follows the real clock.
 */
export async function fakeAnrok(): Promise<FakeAnrok> {
  const records: FakeAnrok['records'] = new Map();
  const secondRecords: FakeAnrok['records'] = new Map();
  const calls: FakeAnrok['calls'] = [];
  const products = new Set<string>();
  const customers = new Set<string>();
  const filed = new Set<string>();
  const startsOf = { first: [] as number[], second: [] as number[] };

  function checked(body: Loose, now: number): Loose {
    demandKeys(body, KEYS, 'body');
    for (const key of ['lineItems', 'currencyCode', 'customerAddress'])
      if (body[key] === undefined) throw bad(`"${key}": Required.`);
    demandAddress(body.customerAddress, 'customerAddress');
    if (body.shipFromAddress !== undefined) demandAddress(body.shipFromAddress, 'shipFromAddress');
    if (!/^[A-Za-z]{3}$/.test(body.currencyCode)) throw bad('"currencyCode": Invalid input.');
    for (const line of body.lineItems) {
      demandKeys(line, LINE_KEYS, 'lineItems');
      if (typeof line.productExternalId !== 'string') throw bad('"lineItems": "productExternalId": Required.');
      if (!Number.isInteger(line.amount) || Math.abs(line.amount) > AMOUNT_MOST)
        throw bad('"lineItems": "amount": Expected integer.');
      if (line.quantity !== undefined && !/^-?\d+(\.\d+)?$/.test(line.quantity))
        throw bad('"lineItems": "quantity": Invalid input.');
    }
    for (const taxId of body.customerTaxIds ?? [])
      if (!['genericVatNumber', 'euVrn'].includes(taxId.type) || !taxId.value)
        throw bad('"customerTaxIds": Invalid input.');
    if (body.accountingDate && body.accountingTimeZone)
      throw bad('Cannot specify both accountingDate and accountingTimeZone.');
    if (!body.accountingDate && !body.accountingTime)
      throw bad('Must specify either accountingDate or accountingTime.');
    if (body.accountingTime && !body.accountingTimeZone) throw conflict('accountingTimeZoneNotSetForSeller');
    if (body.accountingTimeZone && !ZONES.includes(body.accountingTimeZone))
      throw conflict('accountingTimeZoneNotSupported');
    const day = Date.parse(body.accountingDate ?? body.accountingTime);
    if (day > now + 31 * 86_400_000) throw conflict('taxDateTooFarInFuture');
    if (day < Date.parse('1999-01-01')) throw conflict('taxDateTooFarInPast');
    if (FOUR_DECIMALS.includes(body.currencyCode.toLowerCase())) throw conflict('currencyCodeNotSupported');
    if (!body.customerAddress.country) throw conflict('customerAddressCouldNotResolve');
    if (body.customerId !== undefined && body.customerName === undefined && !customers.has(body.customerId))
      throw conflict('customerIdNotFound');
    for (const { productExternalId } of body.lineItems)
      if (!products.has(productExternalId)) throw conflict('productExternalIdUnknown', { productExternalId });
    if (body.customerId !== undefined) customers.add(body.customerId);
    const lineItems = body.lineItems.map((line: Loose) => taxLine(line, body.customerAddress));
    const total = lineItems.reduce((sum: number, line: Loose) => sum + line.taxAmountToCollect, 0);
    return { taxAmountToCollect: total, lineItems, preTaxAmount: '0', jurisSummaries: [] };
  }

  function answer(path: string, body: Loose, records: FakeAnrok['records']): Loose {
    if (path === 'createEphemeral') {
      if (body.id !== undefined) throw bad(`Unrecognized key(s) in object: 'id'.`);
      return checked(body, Date.now());
    }
    if (path === 'createOrUpdate') {
      if (fake.refusal !== undefined) throw new Refused(409, fake.refusal);
      if (typeof body.id !== 'string') throw bad('"id": Required.');
      const taxed = checked(body, Date.now());
      if (filed.has(body.id) && records.has(body.id)) throw conflict('transactionFrozenForFiling');
      const version = (records.get(body.id)?.version ?? 0) + 1;
      const netCents = body.lineItems.reduce((sum: number, line: Loose) => sum + line.amount, 0);
      const taxCents = taxed.taxAmountToCollect;
      records.set(body.id, { version, body, voided: false, negates: null, netCents, taxCents });
      return { version, ...taxed };
    }
    if (path === 'createNegation') {
      for (const key of ['originalTransactionId', 'newTransactionId'])
        if (typeof body[key] !== 'string') throw bad(`"${key}": Required.`);
      const original = records.get(body.originalTransactionId);
      if (!original) throw conflict('transactionIdNotFound');
      if (original.negates !== null) throw conflict('transactionIsAlreadyANegation');
      if (records.has(body.newTransactionId)) throw conflict('duplicateTransactionId');
      if (original.voided) throw conflict('transactionIdNotFound');
      const { netCents, taxCents } = original;
      records.set(body.newTransactionId, {
        version: 1,
        body: original.body,
        voided: false,
        negates: body.originalTransactionId,
        netCents: -netCents,
        taxCents: -taxCents,
      });
      return {};
    }
    const [, id] = /^id:(.+)\/void$/.exec(path) ?? [];
    if (id === undefined) throw new Refused(404, 'Not Found');
    const record = records.get(decodeURIComponent(id));
    if (!record || record.voided) throw conflict('transactionIdNotFound');
    if (filed.has(decodeURIComponent(id))) throw conflict('transactionFrozenForFiling');
    record.voided = true;
    return {};
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request) text += chunk;
    const path = (request.url ?? '').replace('/v1/seller/transactions/', '');
    if (fake.mood === 'away') return void request.socket.destroy();
    const say = (status: number, body: Loose, headers: Record<string, string> = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    const { authorization } = request.headers;
    const isSecond = authorization === `Bearer ${SECOND_KEY}`;
    if (authorization !== `Bearer ${fake.key}` && !isSecond) return void say(401, 'Unauthorized');
    const now = Date.now();
    const starts = startsOf[isSecond ? 'second' : 'first'];
    while (starts.length > 0 && starts[0]! <= now - 1000) starts.shift();
    if (fake.mood === 'busy' || starts.length >= CALLS_PER_SECOND)
      return void say(429, `You've exceeded your API limit of ${CALLS_PER_SECOND} per second`, { 'retry-after': '1' });
    starts.push(now);
    const body = JSON.parse(text);
    calls.push({ path, body });
    const made = isSecond ? secondRecords : records;
    await fake.gate;
    if (fake.forbids(body)) return void say(403, 'Forbidden');
    if (fake.mood === 'broken') return void say(500, 'Internal Server Error');
    try {
      const found = answer(path, body, made);
      if (fake.mood === 'lost') return void request.socket.destroy();
      say(200, fake.mood === 'odd' ? fake.odd(found) : found);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      say(error.status, error.body);
    }
  }

  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const fake: FakeAnrok = {
    url: `http://127.0.0.1:${port}`,
    records,
    secondRecords,
    holds(partOfId) {
      const held = [...records, ...secondRecords].filter(([id, { voided }]) => id.includes(partOfId) && !voided);
      return {
        netCents: held.reduce((sum, [, { netCents }]) => sum + netCents, 0),
        taxCents: held.reduce((sum, [, { taxCents }]) => sum + taxCents, 0),
      };
    },
    calls,
    products,
    filed,
    mood: 'well',
    odd: (found) => found,
    refusal: undefined,
    forbids: () => false,
    key: ANROK_KEY,
    gate: undefined,
    close: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
  return fake;
}
