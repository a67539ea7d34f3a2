import { fromWire } from '../../../engine/money/wire.ts';
import type { NamedEvent } from '../descriptor.ts';
import type { ProviderError, ProviderEvent, Received } from '../port.ts';
import { providerId } from '../provider-id.ts';
import { hmac, isSame } from '../signatures.ts';
import { DISPUTE_EVENTS, IGNORED_EVENTS } from './event-codes.ts';
import { isOfPage, metadataOf } from './references.ts';
import { ADYEN_WIRE } from './wire.ts';

// biome-ignore lint/suspicious/noExplicitAny: a stored event is read defensively, field by field
type Loose = any;

const IGNORED: ProviderEvent = { kind: 'ignored' };

/** A second row of an authorisation on a page: the method that was stored with it. */
const METHOD_PART = 'method';

const itemsOf = (body: Loose): Loose[] =>
  (Array.isArray(body?.notificationItems) ? body.notificationItems : []).flatMap((entry: Loose) => {
    const item = entry?.NotificationRequestItem;
    return item && typeof item === 'object' ? [item] : [];
  });

/**
 * Whether all items of a body are signed: each over its fixed list of fields, with a key that is written in hex. A body
 * with one bad item is refused as a whole.
 */
export function isSignedByAdyen(body: Buffer, secret: string): boolean {
  let parsed: Loose;
  try {
    parsed = JSON.parse(body.toString('utf8'));
  } catch {
    return false;
  }
  const items = itemsOf(parsed);
  if (!/^([0-9a-f]{2})+$/i.test(secret) || items.length === 0) return false;
  if (items.length !== parsed.notificationItems.length) return false;
  const key = Buffer.from(secret, 'hex');
  return items.every((item) => isItemSigned(item, key));
}

/** Anybody can send a body, so its fields may be anything: only plain values are made a text that is signed. */
function isItemSigned(item: Loose, key: Buffer): boolean {
  const fields = signedFields(item);
  const signature = item.additionalData?.hmacSignature;
  if (typeof signature !== 'string' || fields.some((field) => typeof field === 'object')) return false;
  return isSame(signature, hmac(key, 'base64', fields.join(':')));
}

const signedFields = ({
  pspReference,
  originalReference,
  merchantAccountCode,
  merchantReference,
  amount,
  eventCode,
  success,
}: Loose): unknown[] =>
  [
    pspReference,
    originalReference,
    merchantAccountCode,
    merchantReference,
    amount?.value,
    amount?.currency,
    eventCode,
    success,
  ].map((field) => field ?? '');

/** The items of a body; an authorisation on a page also stores a method, which is an event of its own. */
export const adyenEventsIn = (body: Record<string, unknown>): NamedEvent[] =>
  itemsOf(body).flatMap((item) => {
    const { eventCode, pspReference, success } = item;
    if (typeof eventCode !== 'string' || !providerId(pspReference)) return [];
    // All events of a dispute have one reference, and its status says which of them it is.
    const status = isOfDispute(eventCode) ? providerId(statusOfDispute(item)) : undefined;
    const id = [eventCode, pspReference, success, ...(status === undefined ? [] : [status])].join(':');
    const event = { id, type: eventCode, payload: item };
    if (!storesMethod(item)) return [event];
    return [event, { id: `${id}:${METHOD_PART}`, type: eventCode, payload: { ...item, part: METHOD_PART } }];
  });

/** A charge in the customer's absence names its method too, and makes no other one the default. */
const storesMethod = ({ eventCode, success, merchantReference, additionalData }: Loose): boolean =>
  eventCode === 'AUTHORISATION' &&
  isTrue(success) &&
  isOfPage(String(merchantReference ?? '')) &&
  providerId(additionalData?.['recurring.recurringDetailReference']) !== undefined;

const isTrue = (success: unknown): boolean => String(success) === 'true';

const isOfDispute = (eventCode: string): boolean => DISPUTE_EVENTS.has(eventCode);

/** Statuses with which a chargeback is lost: it was decided, accepted, or its time to defend it has passed. */
const LOST: readonly unknown[] = ['Lost', 'Accepted', 'Expired'];

/** A stored item of Adyen in our terms. Rule: provider-connections.md#adyen. */
export function parseAdyenEvent(item: Record<string, unknown>): ProviderEvent {
  const [id, original] = [providerId(item.pspReference), providerId(item.originalReference)];
  const code = String(item.eventCode);
  if (!id || IGNORED_EVENTS.has(code)) return IGNORED;
  if (item.part === METHOD_PART) return methodOf(item);
  const saidOfDispute = DISPUTE_EVENTS.get(code);
  if (saidOfDispute) return dispute(item, original, saidOfDispute);
  const isDone = isTrue(item.success);
  const reference = String(item.merchantReference ?? '');
  switch (code) {
    case 'AUTHORISATION':
      return authorisation(item, { id, isDone, reference });
    case 'CANCELLATION':
      return isDone ? takenBack(item, original, 'Cancelled') : IGNORED;
    case 'CANCEL_OR_REFUND':
      // Made in the dashboard by one who does not know whether the money has been captured; Adyen does.
      if (modificationOf(item) === 'refund') return refundOf(item, { id, isPaid: isDone });
      return isDone ? takenBack(item, original, 'Cancelled') : IGNORED;
    case 'EXPIRE':
      return isDone ? takenBack(item, original ?? id, 'Expired') : IGNORED;
    case 'OFFER_CLOSED':
      return offerClosed(item, { id, isDone, reference });
    case 'CAPTURE_FAILED':
      return takenBack(item, original, 'CaptureFailed');
    case 'REFUND':
      return refundOf(item, { id, isPaid: isDone });
    case 'REFUND_FAILED':
    case 'REFUNDED_REVERSED':
      return { ...refundOf(item, { id, isPaid: false }), isReturn: true };
    default:
      return { kind: 'unknown', type: code };
  }
}

/** What was authorised has counted as received since, and does not come. A failed attempt at it has no such effect. */
const takenBack = (
  item: Loose,
  payment: string | undefined,
  status: 'Cancelled' | 'CaptureFailed' | 'Expired',
): ProviderEvent =>
  payment === undefined
    ? IGNORED
    : {
        kind: 'payment_reversed',
        providerPaymentId: payment,
        status,
        ...atOf(item),
        ...(status === 'CaptureFailed' ? faultOf(item) : {}),
      };

const refundOf = (item: Loose, { id, isPaid }: { id: string; isPaid: boolean }) => ({
  kind: 'refund' as const,
  providerRefundId: id,
  status: isPaid ? 'succeeded' : 'failed',
  metadata: metadataOf(String(item.merchantReference ?? '')),
  ...(isPaid ? {} : faultOf(item)),
});

const modificationOf = ({ additionalData: data }: Loose): unknown => data?.['modification.action'];

function authorisation(
  item: Record<string, unknown>,
  { id, isDone, reference }: { id: string; isDone: boolean; reference: string },
): ProviderEvent {
  const received = receivedOf(item.amount);
  // A method was stored without an amount.
  if (received?.amountCents === 0) return IGNORED;
  return {
    kind: 'payment',
    providerPaymentId: id,
    status: isDone ? 'Authorised' : 'Refused',
    metadata: metadataOf(reference),
    ...(isDone && received ? { received } : {}),
    ...atOf(item),
    ...(isDone ? {} : faultOf(item)),
  };
}

/** The shopper was sent away and has paid nothing in time. Of a page nothing has failed: it may be opened again. */
function offerClosed(
  item: Record<string, unknown>,
  { id, isDone, reference }: { id: string; isDone: boolean; reference: string },
): ProviderEvent {
  if (!isDone || isOfPage(reference)) return IGNORED;
  const event = { kind: 'payment', providerPaymentId: id, status: 'Expired', metadata: metadataOf(reference) } as const;
  return { ...event, ...atOf(item), ...faultOf(item) };
}

function methodOf({ additionalData: data, paymentMethod }: Loose): ProviderEvent {
  const [method, customer] = [
    providerId(data?.['recurring.recurringDetailReference']),
    providerId(data?.['recurring.shopperReference']) ?? providerId(data?.shopperReference),
  ];
  if (!method || !customer) return IGNORED;
  const [month, year] = String(data.expiryDate ?? '').split('/');
  const kind = providerId(paymentMethod) ?? 'card';
  const isCard = data.cardSummary !== undefined || data.expiryDate !== undefined;
  const details = {
    type: isCard ? 'scheme' : kind,
    brand: kind,
    last4: data.cardSummary,
    expiry: year && month ? `${year}-${month.padStart(2, '0')}` : undefined,
  };
  return {
    kind: 'method_attached',
    providerCustomerId: customer,
    providerMethodId: method,
    methodType: isCard ? 'card' : kind,
    details: Object.fromEntries(
      Object.entries(details).filter((each): each is [string, string] => providerId(each[1]) !== undefined),
    ),
  };
}

const statusOfDispute = ({ additionalData: data }: Loose): unknown => data?.disputeStatus;

function dispute(
  item: Loose,
  payment: string | undefined,
  said: 'opened' | 'lost' | 'won' | 'by status',
): ProviderEvent {
  if (!payment) return IGNORED;
  const isLost = isTrue(item.success) && LOST.includes(statusOfDispute(item));
  const end = said === 'by status' ? (isLost ? 'lost' : 'opened') : said;
  const reason = providerId(item.reason) ?? null;
  return end === 'opened'
    ? { kind: 'dispute_opened', providerPaymentId: payment, reason }
    : { kind: 'dispute_closed', providerPaymentId: payment, isLost: end === 'lost', reason };
}

function receivedOf(amount: Loose): Received | undefined {
  const { value, currency } = amount ?? {};
  if (!Number.isSafeInteger(value) || value < 0 || typeof currency !== 'string') return undefined;
  return { currency, amountCents: fromWire(ADYEN_WIRE, value, currency) ?? null };
}

const atOf = ({ eventDate: at }: Record<string, unknown>): { reportedAt?: string } =>
  typeof at === 'string' && !Number.isNaN(Date.parse(at)) ? { reportedAt: new Date(at).toISOString() } : {};

/** How many characters of the reason of a refusal are kept: more than any real one has. */
const REASON_MAX = 255;

/** The reason is a text, `05 : Do not honor` or `Refused`. */
function faultOf({ reason, eventCode }: Loose): { error: ProviderError } {
  const message = typeof reason === 'string' && reason !== '' ? reason.slice(0, REASON_MAX) : String(eventCode);
  return { error: { code: String(eventCode).toLowerCase(), message: message.toWellFormed() } };
}
