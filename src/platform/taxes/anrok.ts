import { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import { type Currency, exponentOf } from '../../engine/money/currency.ts';
import type { CallTrace, LineTaxes, TaxAddress, TaxAnswer, TaxDocument, TaxEngine, TaxOutcome } from './port.ts';
import { type JsonAnswer, postJson } from './post-json.ts';

const ANROK_URL = 'https://api.anrok.com';

/** The id that a check asks to take back; no document has it. */
const CHECKED_ID = 'svc:check';

/** Zones that Anrok can compute an accounting date in. */
const ZONES: ReadonlySet<string> = new Set([
  ...['UTC', 'America/New_York', 'America/Chicago', 'America/Denver', 'America/Los_Angeles', 'America/Anchorage'],
  ...['Pacific/Honolulu', 'Australia/Perth', 'Australia/Adelaide', 'Australia/Darwin', 'Australia/Brisbane'],
  ...['Australia/Sydney', 'America/Halifax', 'America/Toronto', 'America/Winnipeg', 'America/Regina'],
  ...['America/Edmonton', 'America/Vancouver', 'Europe/Berlin', 'Europe/Brussels', 'Europe/Dublin'],
  ...['Europe/Helsinki', 'Europe/London', 'Europe/Paris', 'Europe/Rome', 'Europe/Stockholm', 'Asia/Tokyo'],
  'Asia/Singapore',
]);

/** Why a line is not taxed, in the words of tax-engines.md#what-the-answer-becomes. */
const NOT_TAXED: Readonly<Record<string, string>> = {
  productNotTaxed: 'juris_not_taxed',
  jurisHasNoTax: 'juris_has_no_tax',
  notCollecting: 'not_collecting',
  reverseCharge: 'reverse_charge',
  customerExempt: 'customer_exempt',
  transactionExempt: 'transaction_exempt',
};

/** A decimal as Anrok writes it, as a text or a number; nothing else is computed with. */
const DecimalText = z
  .union([z.string(), z.number()])
  .transform(String)
  .pipe(
    z
      .string()
      .max(50)
      .regex(/^-?\d+(\.\d+)?([eE][+-]?\d{1,2})?$/),
  );

const NotTaxedReason = z.object({ type: z.string(), reason: z.object({ type: z.string() }).nullish() });

const Answer = z.object({
  lineItems: z.array(
    z.object({
      id: z.string().nullable(),
      taxAmountToCollect: z.int(),
      jurises: z.array(
        z.object({
          name: z.string(),
          notTaxedReason: NotTaxedReason.nullish(),
          taxes: z.array(z.object({ taxName: z.string(), taxAmount: DecimalText, taxRate: DecimalText })).nullish(),
        }),
      ),
    }),
  ),
});

/** A key names the seller whose account it opens, and itself, before what is secret in it. */
const KEY = /^(s[^/]*)\/[^/]+\/secret\../;

/** The account that a key opens, of which there may be several keys; a key of another form stands for itself. */
export const accountOfKey = (apiKey: string): string => KEY.exec(apiKey)?.[1] ?? apiKey;

/**
 * Anrok, by its published interface of transactions. Its smallest units are ours; currencies with more than three
 * decimals are refused before the call. Rule: tax-engines.md#anrok.
 */
export function anrokEngine({
  apiKey,
  apiUrl = ANROK_URL,
}: {
  apiKey: string;
  apiUrl?: string | undefined;
}): TaxEngine {
  const base = `${apiUrl.replace(/\/+$/, '')}/v1/seller/transactions`;
  const ask = (path: string, body: object, timeoutMs: number) =>
    postJson(`${base}/${path}`, { headers: { authorization: `Bearer ${apiKey}` }, body, timeoutMs });

  async function tax(path: string, document: TaxDocument, timeoutMs: number): Promise<TaxOutcome<TaxAnswer>> {
    if (exponentOf(document.currency as Currency) > 3)
      return {
        kind: 'refused',
        fault: { code: 'currencyCodeNotSupported', message: `${document.currency} has four decimals` },
        trace: { httpStatus: null, body: null },
      };
    const body = { ...(path === 'createOrUpdate' ? { id: document.id } : {}), ...transactionOf(document) };
    return outcomeOf(await ask(path, body, timeoutMs), (read) => {
      const answer = Answer.safeParse(read);
      if (!answer.success) return undefined;
      const lines = answer.data.lineItems.map(linesOf);
      const asked = new Set(document.lines.map(({ id }) => id));
      const answered = new Set(lines.map(({ id }) => id));
      const isComplete = lines.length === asked.size && answered.size === asked.size;
      return isComplete && lines.every(({ id }) => asked.has(id)) ? { lines } : undefined;
    });
  }

  return {
    async check(timeoutMs) {
      const outcome = outcomeOf(await ask(`id:${CHECKED_ID}/void`, {}, timeoutMs), () => null);
      return isUnknownId(outcome) ? { kind: 'answered', answer: null, trace: outcome.trace } : outcome;
    },
    estimate: (document, timeoutMs) => tax('createEphemeral', document, timeoutMs),
    record: (document, timeoutMs) => tax('createOrUpdate', document, timeoutMs),
    async void(id, timeoutMs) {
      const outcome = outcomeOf(await ask(`id:${encodeURIComponent(id)}/void`, {}, timeoutMs), () => null);
      return isUnknownId(outcome) ? { kind: 'answered', answer: null, trace: outcome.trace } : outcome;
    },
    async negate(id, newId, timeoutMs) {
      const body = { originalTransactionId: id, newTransactionId: newId };
      const outcome = outcomeOf(await ask('createNegation', body, timeoutMs), () => null);
      // The answer to the first call was lost.
      const isDone = outcome.kind === 'refused' && outcome.fault.code === 'duplicateTransactionId';
      return isDone ? { kind: 'answered', answer: null, trace: outcome.trace } : outcome;
    },
  };
}

const isUnknownId = (outcome: TaxOutcome<null>): boolean =>
  outcome.kind === 'refused' && outcome.fault.code === 'transactionIdNotFound';

function transactionOf({ date, timezone, currency, customer, seller, lines }: TaxDocument): object {
  const taxIds = customer.taxIds.map((value) => ({ type: 'genericVatNumber', value }));
  return {
    currencyCode: currency.toLowerCase(),
    ...accountingOf(date, timezone),
    lineItems: lines.map(({ id, productId, quantity, netCents }) => ({
      id,
      productExternalId: productId,
      amount: netCents,
      isTaxIncludedInAmount: false,
      quantity,
    })),
    customerAddress: addressOf(isEmpty(customer.shipping) ? customer.billing : customer.shipping),
    customerId: customer.id,
    // With a name, a customer that is not known there is made.
    customerName: customer.name ?? customer.id,
    ...(taxIds.length > 0 ? { customerTaxIds: taxIds } : {}),
    ...(isEmpty(seller.address) ? {} : { shipFromAddress: addressOf(seller.address) }),
  };
}

/** Noon of the day in its zone; of a zone that Anrok does not know, the day itself. */
const accountingOf = (date: string, timezone: string): object =>
  ZONES.has(timezone)
    ? {
        accountingTime: Temporal.PlainDate.from(date)
          .toZonedDateTime({ timeZone: timezone, plainTime: '12:00' })
          .toInstant()
          .toString(),
        accountingTimeZone: timezone,
      }
    : { accountingDate: date };

const isEmpty = (address: TaxAddress): boolean => Object.values(address).every((part) => !part);

/** Parts that are not known are left out, since empty texts are refused. */
const addressOf = (address: TaxAddress): object =>
  Object.fromEntries(Object.entries(address).filter(([, part]) => part));

function linesOf({ id, taxAmountToCollect, jurises }: z.infer<typeof Answer>['lineItems'][number]): LineTaxes {
  const taxes = jurises.flatMap(({ name, taxes: listed }) =>
    (listed ?? []).map(({ taxName, taxAmount, taxRate }) => ({
      jurisdiction: name,
      name: taxName,
      rate: taxRate,
      amountCents: taxAmount,
    })),
  );
  const reasons = jurises.flatMap(({ notTaxedReason }) => (notTaxedReason ? [reasonOf(notTaxedReason)] : []));
  return {
    id: id ?? '',
    collectedCents: taxAmountToCollect,
    taxes,
    notTaxed: taxes.length > 0 ? null : (reasons[0] ?? 'unknown_taxation'),
  };
}

const reasonOf = ({ type, reason }: z.infer<typeof NotTaxedReason>): string =>
  NOT_TAXED[reason?.type ?? type] ?? 'unknown_taxation';

/** `read` gives undefined for a body that is not what was asked for. */
function outcomeOf<Read>(
  answer: JsonAnswer | { trouble: string },
  read: (body: unknown) => Read | undefined,
): TaxOutcome<Read> {
  if ('trouble' in answer)
    return {
      kind: 'unreachable',
      fault: { code: 'unreachable', message: answer.trouble },
      trace: { httpStatus: null, body: null },
    };
  const { status, body, text, retryAfterMs } = answer;
  const trace: CallTrace = { httpStatus: status, body: status === 200 ? null : text };
  if (status === 200) {
    const found = read(body);
    if (found !== undefined) return { kind: 'answered', answer: found, trace };
    return {
      kind: 'unreachable',
      fault: { code: 'unreadable_answer', message: 'the answer is not what was asked for' },
      trace: { httpStatus: status, body: text },
    };
  }
  if (status === 429 || status >= 500)
    return {
      kind: 'unreachable',
      fault: { code: status === 429 ? 'too_many_requests' : 'service_unavailable', message: `status ${status}` },
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      trace,
    };
  const fault = faultOf(status, body, text);
  if (fault.code === 'transactionFrozenForFiling') return { kind: 'filed', fault, trace };
  return { kind: 'refused', fault, trace, ...(status === 401 || status === 403 ? { isUnauthorized: true } : {}) };
}

/** Longest text of a refusal that is kept. */
const MESSAGE_MAX = 500;

function faultOf(status: number, body: unknown, text: string) {
  const { type, productExternalId } = (typeof body === 'object' && body !== null ? body : {}) as Record<
    string,
    unknown
  >;
  if (typeof type === 'string') {
    const named = typeof productExternalId === 'string' ? `: ${productExternalId}` : '';
    return { code: type, message: `${type}${named}`.slice(0, MESSAGE_MAX) };
  }
  const code = status === 401 || status === 403 ? 'unauthorized' : 'validationError';
  return { code, message: (typeof body === 'string' ? body : text || `status ${status}`).slice(0, MESSAGE_MAX) };
}
