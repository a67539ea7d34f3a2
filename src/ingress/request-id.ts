import { randomUUID } from 'node:crypto';
import type { Request } from 'express';

const KEPT = /^[A-Za-z0-9-]{1,64}$/;

/** Id of a request: the client's if it has the allowed form, else a new UUID (json.md). */
export function requestIdOf(request: Request): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && KEPT.test(given) ? given : randomUUID();
}
