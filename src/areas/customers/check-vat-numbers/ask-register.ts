import { own } from '../../../engine/own.ts';
import { targetOf } from '../../../platform/http/addresses.ts';
import { jsonIn } from '../../../platform/http/answers.ts';
import { describeTrouble, type Outgoing } from '../../../platform/http/outgoing.ts';
import type { ReadVatNumber } from '../../../platform/vat-numbers/read-vat-number.ts';
import type { RegisterAnswer, RegisterError } from './take-answer.ts';

/** The register asks the country's own register in turn, which may take its time. */
const TIMEOUT_MS = 20_000;

/** Error codes with which the register refuses to answer. */
const ERRORS: Readonly<Record<string, RegisterError>> = {
  GLOBAL_MAX_CONCURRENT_REQ: 'rate_limit',
  GLOBAL_MAX_CONCURRENT_REQ_TIME: 'rate_limit',
  MS_MAX_CONCURRENT_REQ: 'rate_limit',
  MS_MAX_CONCURRENT_REQ_TIME: 'rate_limit',
  TIMEOUT: 'timeout',
  VAT_BLOCKED: 'blocked',
  IP_BLOCKED: 'blocked',
  INVALID_REQUESTER_INFO: 'invalid_requester',
  SERVICE_UNAVAILABLE: 'service_unavailable',
  SERVER_BUSY: 'service_unavailable',
  MS_UNAVAILABLE: 'member_state_unavailable',
};

/**
 * Asks the EU register about a number. Any failure is returned as an error of the register, never thrown. Rule:
 * eu-taxes.md.
 */
export async function askRegister(
  { outgoing, url }: { outgoing: Outgoing; url: string },
  { prefix, digits }: ReadVatNumber,
): Promise<RegisterAnswer> {
  try {
    const answer = await outgoing.post(
      // The operator configures the register's address, so it may be in a private network.
      targetOf(url, { allowPrivate: true }),
      { 'content-type': 'application/json', accept: 'application/json' },
      JSON.stringify({ countryCode: prefix, vatNumber: digits }),
      TIMEOUT_MS,
    );
    return read(answer.status, answer.text);
  } catch (error) {
    const text = describeTrouble(error);
    return { outcome: 'error', error: /no answer within|timeout/i.test(text) ? 'timeout' : 'unknown', text };
  }
}

interface RegisterBody {
  valid?: unknown;
  userError?: unknown;
  errorWrappers?: unknown;
  [key: string]: unknown;
}

function read(status: number, text: string): RegisterAnswer {
  const body = parse(text);
  const word = errorOf(body);
  if (word === 'INVALID_INPUT') return { outcome: 'invalid' };
  if (word !== undefined) return { outcome: 'error', error: own(ERRORS, word) ?? 'unknown', text: word };
  if (status === 429) return { outcome: 'error', error: 'rate_limit', text: `status ${status}` };
  if (status >= 500) return { outcome: 'error', error: 'service_unavailable', text: `status ${status}` };
  if (status !== 200 || typeof body?.valid !== 'boolean')
    return { outcome: 'error', error: 'unknown', text: `status ${status}` };
  if (!body.valid) return { outcome: 'invalid' };
  return {
    outcome: 'valid',
    data: {
      country_code: body.countryCode ?? null,
      vat_number: body.vatNumber ?? null,
      name: body.name ?? null,
      address: body.address ?? null,
      request_date: body.requestDate ?? null,
    },
  };
}

function parse(text: string): RegisterBody | undefined {
  const body = jsonIn(text);
  return typeof body === 'object' && body !== null ? (body as RegisterBody) : undefined;
}

/** Errors come in their own list, or as a word in an answer that does not mention the number. */
function errorOf(body: RegisterBody | undefined): string | undefined {
  const [first] = Array.isArray(body?.errorWrappers) ? (body.errorWrappers as { error?: unknown }[]) : [];
  const word = first?.error ?? body?.userError;
  return typeof word === 'string' && word !== 'VALID' && word !== 'INVALID' && word !== '' ? word : undefined;
}
