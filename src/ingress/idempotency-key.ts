import { createHash } from 'node:crypto';
import { canonicalDigest } from '../platform/canonical-json.ts';
import type { OrganizationId } from '../platform/ids.ts';
import { refuse } from '../platform/refusal.ts';

const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/;

/** Key of the stored answer, and fingerprint that a repeated request must equal, as hex. */
export interface Idempotency {
  scope_hash: string;
  fingerprint: string;
}

/**
 * Scope and fingerprint of a request with an Idempotency-Key, as hex; null without one. Scope: organization, method,
 * path with decoded parameters, key. Fingerprint: sorted query pairs and the body by value. Rule: idempotency.md.
 *
 * @throws Refusal 422 idempotency_key: invalid_format
 */
export function idempotencyOf(request: {
  header: string | string[] | undefined;
  organizationId: OrganizationId;
  method: string;
  path: string;
  query: unknown;
  body: unknown;
}): Idempotency | null {
  const key = Array.isArray(request.header) ? request.header.join(',') : request.header;
  if (key === undefined || key.trim() === '') return null;
  if (!VISIBLE_ASCII.test(key)) throw refuse.invalid({ idempotency_key: ['invalid_format'] });
  return {
    scope_hash: createHash('sha256')
      .update(`v1|${request.organizationId}|${request.method}|${request.path}|${key}`)
      .digest('hex'),
    fingerprint: canonicalDigest({ query: request.query, body: request.body ?? null }).toString('hex'),
  };
}
