import { type FoundPlace, placesOf } from './found-places.ts';

/** Codes of one or several fields: `{rate: ['value_is_out_of_range']}`. */
export type FieldErrors = Record<string, unknown>;

/** The caller may not do this: an expected answer, never an error of the service. */
export class Refusal extends Error {
  readonly status: number;
  readonly body: Record<string, unknown>;
  /** Where in the input the codes were found, if the refusing code knows. */
  readonly places: readonly FoundPlace[];
  /** Headers of the answer that say more than the body, such as when to try again. */
  readonly headers: Record<string, string>;

  constructor(
    status: number,
    body: Record<string, unknown>,
    places: readonly FoundPlace[] = [],
    headers: Record<string, string> = {},
  ) {
    super(`${status} ${JSON.stringify(body)}`);
    this.name = 'Refusal';
    this.status = status;
    this.body = { status, ...body };
    this.places = places;
    this.headers = headers;
  }
}

/** A failure outside the service: a job retries by its queue's table, a request answers 503. */
export class Outage extends Error {
  readonly provider: string;
  readonly retryAfterMs: number;

  constructor(provider: string, cause: unknown, options: { retryAfterMs?: number } = {}) {
    super(`${provider} is out of reach`, { cause });
    this.name = 'Outage';
    this.provider = provider;
    this.retryAfterMs = options.retryAfterMs ?? 1000;
  }
}

/** The bodies of error-bodies.md#shapes. */
export const refuse = {
  badRequest: (reason: string) => new Refusal(400, { error: `BadRequest: ${reason}` }),
  missingRoot: (root: string) => refuse.badRequest(`param is missing or the value is empty or invalid: ${root}`),
  unauthorized: () => new Refusal(401, { error: 'Unauthorized' }),
  forbidden: (code: string) => new Refusal(403, { error: 'Forbidden', code }),
  notFound: (resource: string) => new Refusal(404, { error: 'Not Found', code: 'object_not_found', resource }),
  notAllowed: (code: string) => new Refusal(405, { error: 'Method Not Allowed', code }),
  tooLarge: () => new Refusal(413, { error: 'Payload Too Large', code: 'payload_too_large' }),
  unsupportedMediaType: () => new Refusal(415, { error: 'Unsupported Media Type', code: 'unsupported_media_type' }),
  invalid: (details: FieldErrors, places: readonly FoundPlace[] = placesOf(details)) =>
    new Refusal(
      422,
      { error: 'Unprocessable Entity', code: 'validation_errors', error_details: onceEach(details) },
      places,
    ),
  /** Too much lies in a span of days; `span` is what of it is not too much, null where that is not even a day. */
  wideSpan: (span: { from: string; to: string } | null) =>
    new Refusal(422, { ...refuse.invalid({ base: ['value_is_out_of_range'] }).body, span }),
  thirdParty: (provider: string, error: string) =>
    new Refusal(422, {
      error: 'Unprocessable Entity',
      code: 'third_party_error',
      error_details: { third_party: provider, thirdparty_error: error },
    }),
  /** A refusal of a payment provider; `connection` is its code. */
  provider: (connection: string, { code, message }: { code: string; message: string }) =>
    new Refusal(422, {
      error: 'Unprocessable Entity',
      code: 'provider_error',
      provider: { code: connection },
      error_details: { code, message, request_id: null, http_status: 402, http_body: null },
    }),
  /** A payment provider that does not accept the credentials of its connection. */
  providerCredentials: (message: string) => new Refusal(401, { error: message }),
  /** A payment provider that has had too many calls. */
  tooManyProviderRequests: (provider: string, message: string, retryAfterMs: number) =>
    new Refusal(
      429,
      {
        error: 'Too Many Provider Requests',
        code: 'too_many_provider_requests',
        error_details: { provider_name: provider, message },
      },
      [],
      { 'Retry-After': String(Math.ceil(retryAfterMs / 1000)) },
    ),
  locked: () => new Refusal(422, { error: 'Unprocessable Entity', code: 'lock_acquisition_failed', error_details: {} }),
  tooManyRequests: () => new Refusal(429, { error: 'Too Many Requests', code: 'too_many_requests' }),
  unavailable: () => new Refusal(503, { error: 'Service Unavailable', code: 'service_unavailable' }),
  writePending: (requestId: string) =>
    new Refusal(504, { error: 'Gateway Timeout', code: 'write_pending', request_id: requestId }),
};

/** A code appears once under a field, for any number of elements. */
const onceEach = (details: FieldErrors): FieldErrors =>
  Object.fromEntries(
    Object.entries(details).map(([field, codes]) => [field, Array.isArray(codes) ? [...new Set(codes)] : codes]),
  );
