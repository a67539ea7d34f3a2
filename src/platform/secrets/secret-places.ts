import type { Place } from './seal.ts';

/** The sealed part of a command's job. */
export interface SealedInput {
  input: unknown;
  /** For the API log. */
  parameters: string | null;
}

/** Input of a command on its way to the worker. */
export const inputPlace = (cid: string): Place => ({ table: 'jobs', row: cid, field: 'input' });

/** Answer of a command on its way back to the request that waits. */
export const replyPlace = (cid: string): Place => ({ table: 'replies', row: cid, field: 'body' });

/** Answer of a command as it is kept for replays. */
export const answerPlace = (scopeHash: Buffer): Place => ({
  table: 'idempotency_keys',
  row: scopeHash.toString('hex'),
  field: 'body',
});

/** Secret of the `hmac` signature, the current or the former one. */
export const hmacKeyPlace = (organizationId: string): Place => ({
  table: 'organizations',
  row: organizationId,
  field: 'hmac_key',
});

/** Secret of an endpoint, the current or the former one. */
export const endpointSecretPlace = (endpointId: string): Place => ({
  table: 'webhook_endpoints',
  row: endpointId,
  field: 'secret',
});
