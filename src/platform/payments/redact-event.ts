import { withoutCardNumbers } from './card-numbers.ts';

/** Deepest nesting of a provider's event that is stored; real events have less than ten levels. */
const DEEPEST = 32;

/** Names under which providers send numbers of accounts: their last four characters may be shown. */
const NUMBERS = new Set(['number', 'account_number', 'routing_number', 'iban', 'sort_code']);
/** Names under which they send what proves who pays: no part of it may be shown. */
const PROOFS = new Set(['cvc', 'cvv', 'cvv2', 'client_secret', 'pin', 'fingerprint']);
/** Fewer characters than this would be half of the number. */
const FEWEST_TO_SHORTEN = 8;

/** Names of our records in what we sent along with a payment; everything else in metadata is somebody else's. */
const OURS = new Set([
  'payment_id',
  'payable_type',
  'payable_id',
  'customer_id',
  'external_customer_id',
  'credit_note_id',
]);

const REDACTED = '[redacted]';

/**
 * A signed event of a provider as it is stored: without numbers of cards and accounts and without what proves who pays.
 * Ids stay as they are, and so do the names of our own records in the metadata. Of an event that is nested too deeply
 * only its name stays, and it is read again from the provider.
 *
 * Rule: provider-connections.md#redaction.
 */
export function redactedEvent(event: object): object {
  if (isDeeperThan(event, DEEPEST)) {
    const { id, type } = event as { id?: unknown; type?: unknown };
    return { redacted: true, id, type };
  }
  return walked(event, '', false) as object;
}

/** The same for a body that is no event: nothing is known of it but that a provider signed it. */
export const redactedPart = (text: string): string =>
  withoutCardNumbers(text).replace(SECRET_IN_TEXT, (_, name: string) => `${name}"${REDACTED}"`);

const SECRET_IN_TEXT = new RegExp(
  `("(?:${[...NUMBERS, ...PROOFS].join('|')})"\\s*:\\s*)(?:"(?:[^"\\\\]|\\\\.)*"?|[^\\s,{}\\[\\]"]+)`,
  'gi',
);

function walked(value: unknown, name: string, isMetadata: boolean): unknown {
  const key = name.toLowerCase();
  if (value === null || typeof value === 'boolean') return value;
  if (!isMetadata && PROOFS.has(key)) return REDACTED;
  if (!isMetadata && NUMBERS.has(key)) return shortened(value);
  if (typeof value === 'string')
    return isId(name) || (isMetadata && OURS.has(name)) ? value : withoutCardNumbers(value);
  if (Array.isArray(value)) return value.map((inner) => walked(inner, name, isMetadata));
  if (typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([inner, each]) => [withoutCardNumbers(inner), walked(each, inner, key === 'metadata')]),
  );
}

/** `id`, `payment_intent_id`, `pspReference`: they name a record of the provider, and may look like a card's number. */
const isId = (name: string): boolean => /(?:^|_)id$|[a-z]I[dD]$|[a-z]Reference$/.test(name);

function shortened(value: unknown): string {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  if (MARK.test(text)) return text;
  const shown = withoutCardNumbers(text);
  if (shown !== text) return shown;
  return text.length >= FEWEST_TO_SHORTEN ? `[…${text.slice(-4)}]` : REDACTED;
}

/** What a former walk left, so that another one changes nothing. */
const MARK = /^\[(?:card )?….{4}\]$/;

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(inner, levels - 1));
}
