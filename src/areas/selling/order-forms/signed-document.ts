import { own } from '../../../engine/own.ts';
import { refuse } from '../../../platform/refusal.ts';

/** Size from which on a document is too large. Rule: quotes.md#routes. */
const TOO_LARGE_BYTES = 10 * 1024 * 1024;

/** Largest body of a signature: a document in base64, which adds a third, and the other fields. */
export const SIGN_BODY_LIMIT_BYTES = 2 * TOO_LARGE_BYTES;

/** Characters of base64 in which the largest document below the limit is written; those above it have more. */
const MOST_CHARACTERS = Math.ceil((TOO_LARGE_BYTES - 1) / 3) * 4;

/** Whether a data URI holds more than a document may: told from its length, before it is handed to a worker. */
export const isTooLarge = (uri: string): boolean => uri.length - uri.indexOf(',') - 1 > MOST_CHARACTERS;

const ENDINGS: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'image/jpeg': 'jpeg',
  'image/png': 'png',
};

const HEAD = /^data:([a-z0-9.+-]+\/[a-z0-9.+-]+)(?:;[a-z0-9-]+=[^;,]*)*;base64,/i;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

export interface SignedDocument {
  contentType: string;
  ending: string;
  content: Uint8Array;
}

/**
 * Reads a document from its data URI.
 *
 * @throws Refusal 422 signed_document: invalid_format, invalid_content_type (of PDF, JPEG, PNG)
 * Rule: quotes.md#routes.
 */
export function readSignedDocument(uri: string): SignedDocument {
  const head = HEAD.exec(uri);
  if (!head) throw wrong('invalid_format');
  const contentType = head[1]!.toLowerCase();
  const ending = own(ENDINGS, contentType);
  if (ending === undefined) throw wrong('invalid_content_type');
  const encoded = uri.slice(head[0].length);
  if (encoded.length % 4 !== 0 || !BASE64.test(encoded)) throw wrong('invalid_format');
  return { contentType, ending, content: Buffer.from(encoded, 'base64') };
}

const wrong = (code: string) => refuse.invalid({ signed_document: [code] });
