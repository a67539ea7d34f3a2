import type { Request } from 'express';
import { redactedText } from '../platform/api-log/redact.ts';
import type { ApiKeyId } from '../platform/ids.ts';
import type { Identity } from './authenticate.ts';

/** The parts of a request that the API log stores, before its answer is known (logs.md#api-logs). */
export interface LoggedRequest {
  request_id: string;
  api_key_id: ApiKeyId;
  client: string | null;
  http_method: string;
  request_origin: string;
  request_path: string;
  /** Path, query and body parameters as they were sent, merged; secrets filtered. */
  request_body: string | null;
}

export function loggedRequest(
  request: Request,
  identity: Identity,
  requestId: string,
  parameters: unknown,
): LoggedRequest {
  return {
    request_id: requestId,
    api_key_id: identity.apiKeyId,
    client: request.headers['user-agent'] ?? null,
    http_method: methodOf(request),
    request_origin: `${request.protocol}://${request.headers.host ?? 'unknown'}`,
    request_path: pathOf(request),
    request_body: redactedText(parameters ?? {}),
  };
}

/** Path of a request as it was sent, without its query. */
export const pathOf = (request: Request): string => request.originalUrl.split('?', 1)[0]!;

// PATCH is stored as `put`.
function methodOf(request: Request): string {
  const method = request.method.toLowerCase();
  return method === 'patch' ? 'put' : method;
}
