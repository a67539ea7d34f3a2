import { own } from '../../../engine/own.ts';
import { refuse } from '../../../platform/refusal.ts';

/** Largest size of a document. Rule: quotes.md#routes. */
const TOO_LARGE_BYTES = 10 * 1024 * 1024;

/** Largest body of a signature: a document in base64, which adds a third, and the other fields. */
export const SIGN_BODY_LIMIT_BYTES = 2 * TOO_LARGE_BYTES;

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
 * @throws Refusal 422 signed_document: invalid_format, invalid_content_type (of PDF, JPEG, PNG), file_too_large (10
 *   MiB)
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
  const content = Buffer.from(encoded, 'base64');
  if (content.length >= TOO_LARGE_BYTES) throw wrong('file_too_large');
  return { contentType, ending, content };
}

const wrong = (code: string) => refuse.invalid({ signed_document: [code] });
