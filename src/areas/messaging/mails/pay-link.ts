import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Temporal } from 'temporal-polyfill';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Config } from '../../../platform/config.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { CustomerId } from '../../../platform/ids.ts';
import { linkSecret, linkSecrets } from '../../../platform/keys/deployment-keys.ts';
import { publicUrl } from '../../../platform/public-url.ts';
import { portalUrl } from './portal-token.ts';

/** Path of the pages where invoices are paid, at the root of the server: a browser opens them without a key. */
export const PAY_PATH = '/pay';

/** Query of the address to which a provider's page returns: its payment is reported a moment later. */
export const RETURNED = 'returned';

/** Query of that address: the payment for which a customer was sent away, whose provider adds what it wants to know. */
export const RETURNED_PAYMENT = 'payment';

/** What is paid: one invoice, or the invoices of a payment request. */
export interface Payable {
  type: 'Invoice' | 'PaymentRequest';
  id: string;
}

/** A token that was made here. */
export interface PayToken extends Payable {
  isExpired: boolean;
}

// Kind (1), id (16), hour of expiry (3), signature (16): 36 bytes are 48 letters of base64url without a spare bit, so
// that no two tokens name the same bytes. Half of HMAC-SHA256 is as much as RFC 2104 asks for.
const LETTERS = { Invoice: 'I', PaymentRequest: 'R' } as const;
const ID_AT = 1;
const HOUR_AT = 17;
const HOUR_BYTES = 3;
const SIGNED_BYTES = HOUR_AT + HOUR_BYTES;
const SIGNATURE_BYTES = 16;
const FORM = /^[\w-]{48}$/;

const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
/** A secret that was replaced longer ago than twice the life of a link signed none that is still worth an answer. */
const REMEMBERED_LIVES = 2;

/**
 * Address of the page where something is paid, valid for PAY_LINK_DAYS of real time, under a test clock too. It is made
 * anew wherever it is shown, and stored nowhere. Rule: pay-links.md#the-token.
 *
 * @param since real time from which it counts; the same time gives the same address
 */
export async function payLink(
  { db, config }: { db: Db; config: Config },
  payable: Payable,
  since: Temporal.Instant = realNow(),
): Promise<string> {
  return addressOf(config, await linkSecret({ db, config }), payable, since);
}

function addressOf(config: Config, secret: string, payable: Payable, since: Temporal.Instant): string {
  const hour = Math.ceil(since.epochMilliseconds / HOUR_MS) + config.PAY_LINK_DAYS * DAY_HOURS;
  return `${publicUrl(config)}${PAY_PATH}/${tokenOf(secret, payable, hour)}`;
}

function tokenOf(secret: string, { type, id }: Payable, hour: number): string {
  const bytes = Buffer.alloc(SIGNED_BYTES);
  bytes.write(LETTERS[type], 'latin1');
  bytes.write(id.replaceAll('-', ''), ID_AT, 'hex');
  bytes.writeUIntBE(hour, HOUR_AT, HOUR_BYTES);
  return Buffer.concat([bytes, signatureOf(secret, bytes)]).toString('base64url');
}

// The purpose stands in the signed text, because the same secret signs links to documents and portals.
const signatureOf = (secret: string, bytes: Uint8Array): Buffer =>
  createHmac('sha256', secret).update('pay:').update(bytes).digest().subarray(0, SIGNATURE_BYTES);

/** What a token names; undefined for one that was not made here, or was changed since. */
export async function readPayToken(
  { db, config }: { db: Db; config: Config },
  token: string,
): Promise<PayToken | undefined> {
  if (!FORM.test(token)) return undefined;
  const bytes = Buffer.from(token, 'base64url');
  const type = bytes[0] === LETTERS.Invoice.charCodeAt(0) ? 'Invoice' : 'PaymentRequest';
  if (type === 'PaymentRequest' && bytes[0] !== LETTERS.PaymentRequest.charCodeAt(0)) return undefined;
  const [signed, signature] = [bytes.subarray(0, SIGNED_BYTES), bytes.subarray(SIGNED_BYTES)];
  const secrets = await linkSecrets({ db, config }, config.PAY_LINK_DAYS * DAY_HOURS * REMEMBERED_LIVES);
  if (!secrets.some((secret) => timingSafeEqual(signature, signatureOf(secret, signed)))) return undefined;
  const isExpired = bytes.readUIntBE(HOUR_AT, HOUR_BYTES) * HOUR_MS <= realNow().epochMilliseconds;
  return { type, id: idIn(bytes), isExpired };
}

/** Id that a token names, before anything of it is checked. */
export const claimedPayable = (token: string): string | undefined =>
  FORM.test(token) ? idIn(Buffer.from(token, 'base64url')) : undefined;

const idIn = (bytes: Buffer): string =>
  bytes.toString('hex', ID_AT, HOUR_AT).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

// A link in a stored text: the payable between two characters of the private use area of Unicode, which no text of a
// customer keeps (see `withoutMarks`).
const [MARK, END] = ['\uE000', '\uE001'];
const MARKS = /\uE000([IRPC])([0-9a-f-]{36})((?:\/(?:usage|wallets)\/[0-9a-f-]{36})?)\uE001/g;
/** The letter of a link to a customer's pages. */
const PORTAL = 'P';
/** The letter of a code that proves that an address is the seller's. */
const CODE = 'C';

const CODE_DIGITS = 6;
const CODES = 10 ** CODE_DIGITS;

/** Stands for the link of a payable in a text that is stored, so that the link itself is stored nowhere. */
export const payMark = ({ type, id }: Payable): string => `${MARK}${LETTERS[type]}${id}${END}`;

/** Stands for the link to a customer's pages, or to one below them, in a text that is stored. */
export const portalMark = (customerId: CustomerId, page?: PortalPage): string =>
  `${MARK}${PORTAL}${customerId}${page === undefined ? '' : `/${page.of}/${page.id}`}${END}`;

/** The page of a customer's wallet, or of the usage of its subscription. */
export interface PortalPage {
  of: 'wallets' | 'usage';
  id: string;
}

/** Stands for a code in a text that is stored: of six digits, computed from its id. */
export const codeMark = (codeId: string): string => `${MARK}${CODE}${codeId}${END}`;

/** The code of an id; without the secret nobody can compute it. */
export const codeOf = (secret: string, codeId: string): string =>
  String(createHmac('sha256', secret).update('mail code:').update(codeId).digest().readUInt32BE() % CODES).padStart(
    CODE_DIGITS,
    '0',
  );

/** A stored text without its links, where a person reads what was sent. */
export const withLinksAsMarks = (text: string): string => text.replace(MARKS, '#');

/** A text of others, out of which no mark can be made. */
export const withoutMarks = (text: string): string => text.replace(/[\uE000\uE001]/g, '');

/** Stored texts with a new link in place of each mark: at most one statement, whatever their number. */
export async function withPayLinks(
  { db, config }: { db: Db; config: Config },
  texts: readonly string[],
): Promise<string[]> {
  if (!texts.some((text) => text.includes(MARK))) return [...texts];
  const secret = await linkSecret({ db, config });
  const since = realNow();
  const linkOf = (letter: string, id: string, page: string): string => {
    if (letter === CODE) return codeOf(secret, id);
    if (letter === PORTAL) return `${portalUrl(config, secret, { customerId: id as CustomerId, mayAct: true })}${page}`;
    return addressOf(config, secret, { type: letter === LETTERS.Invoice ? 'Invoice' : 'PaymentRequest', id }, since);
  };
  return texts.map((text) =>
    text.replace(MARKS, (_mark, letter: string, id: string, page: string) => linkOf(letter, id, page)),
  );
}
