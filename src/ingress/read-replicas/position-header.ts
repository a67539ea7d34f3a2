import type { Request } from 'express';
import { headerName } from '../../platform/wire-prefix.ts';
import type { EdgeDeps, Outcome } from '../edge-deps.ts';

/** Header of a write's answer, which a caller may send with a read (read-replicas.md#position-header). */
const POSITION = 'X-Svc-Position';

/** The position that a caller sent back; without replicas it is not looked at. */
export function sentPosition({ replicas, config }: EdgeDeps, request: Request): string | undefined {
  if (replicas === undefined) return undefined;
  const sent = request.headers[headerName(POSITION, config.WIRE_PREFIX).toLowerCase()];
  return Array.isArray(sent) ? sent.join() : sent;
}

/** The answer of a write with its position. */
export function written({ replicas }: EdgeDeps, outcome: Outcome): Outcome {
  const position = replicas?.position();
  return position === undefined ? outcome : { ...outcome, headers: { ...outcome.headers, [POSITION]: position } };
}
