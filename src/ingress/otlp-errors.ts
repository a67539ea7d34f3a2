/** Codes of gRPC, in which OTLP says what went wrong; others are invalid arguments, which an exporter drops. */
const CODES: Readonly<Record<number, number>> = { 401: 16, 403: 7, 404: 5, 429: 8, 500: 13, 503: 14, 504: 4 };
const INVALID_ARGUMENT = 3;

interface Shown {
  status: number;
  headers: Record<string, string>;
  body: { code: number; message: string };
}

/**
 * An error in the form that exporters of OTLP read. They repeat 429, 503 and 504 and drop what is refused otherwise: a
 * body that is wrong is 400, and a sandbox whose clock advances is 503. Rule: ai-usage.md#opentelemetry.
 */
export function otlpError({ status: own, headers }: Omit<Shown, 'body'>, body: object): Shown {
  const { error, code, error_details: details } = body as { error?: string; code?: string; error_details?: object };
  const faults = Object.entries(details ?? {}).map(([field, codes]) => `${field}: ${[codes].flat().join(', ')}`);
  const message = [error, code, ...faults].filter((each) => each !== undefined).join('; ');
  const status = own === 405 ? 503 : own === 422 ? 400 : own;
  return {
    status,
    headers: status === 503 ? { 'Retry-After': '1', ...headers } : headers,
    body: { code: CODES[status] ?? INVALID_ARGUMENT, message },
  };
}
