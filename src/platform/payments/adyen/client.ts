import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { Outage } from '../../refusal.ts';
import { callJson } from '../json-call.ts';
import { noReasonCode, ProviderRefusal } from '../port.ts';
import { Fault } from './answers.ts';

export const PROVIDER = 'adyen';

const VERSION = 'v72';
const TEST_ADDRESS = 'https://checkout-test.adyen.com';

/** Error of a call whose first one with the same key is still under way. */
const UNDER_WAY = '704';
/** How many characters a key may have. */
const KEY_MAX = 64;
/** How many characters of a refusal are kept: more than any real one has. */
const MESSAGE_MAX = 1000;

export interface AdyenTarget {
  apiKey: string;
  merchantAccount: string;
  /** Part of the host of a live account; absent for a test account. */
  livePrefix: string | undefined;
  /** Address of the API; absent for Adyen itself. */
  apiUrl: string | undefined;
  /** Where customers come back to whom Adyen sends away during a charge: every charge must name it. */
  returnUrl: string | undefined;
}

export interface AdyenCall {
  method: 'GET' | 'POST' | 'PATCH';
  path: string;
  /** Of a POST it names the merchant account, too, unless that has no place there. */
  body?: object;
  isWithoutAccount?: true;
  /** Idempotency key; Adyen repeats its first answer. */
  key?: string;
}

const addressOf = ({ livePrefix, apiUrl }: AdyenTarget): string => {
  if (apiUrl !== undefined) return `${apiUrl.replace(/\/+$/, '')}/${VERSION}`;
  return livePrefix === undefined
    ? `${TEST_ADDRESS}/${VERSION}`
    : `https://${livePrefix}-checkout-live.adyenpayments.com/checkout/${VERSION}`;
};

/** A key in the length that Adyen takes: of a longer one its digest, which is as unique. */
const keyOf = (key: string): string =>
  key.length <= KEY_MAX ? key : createHash('sha256').update(key).digest('hex').slice(0, KEY_MAX);

/**
 * The Checkout interface of Adyen. Bodies name the merchant account, where they have a place for it.
 *
 * @throws ProviderRefusal; Outage; TooManyCalls
 */
export function adyenClient(target: AdyenTarget) {
  const base = addressOf(target);
  const account = { merchantAccount: target.merchantAccount };
  return async <Shape extends z.ZodType>(
    { method, path, body, key, isWithoutAccount }: AdyenCall,
    shape: Shape,
  ): Promise<z.infer<Shape>> => {
    const answer = await callJson(PROVIDER, {
      method,
      url: `${base}${path}`,
      headers: { 'x-api-key': target.apiKey, ...(key === undefined ? {} : { 'idempotency-key': keyOf(key) }) },
      ...(body === undefined ? {} : { body: { ...(method === 'POST' && !isWithoutAccount ? account : {}), ...body } }),
    });
    if (answer.status >= 200 && answer.status < 300) {
      const read = shape.safeParse(answer.body);
      if (read.success) return read.data;
      throw new Outage(PROVIDER, new Error(`${path}: an answer of another shape`));
    }
    const { errorCode, message, errorType } = Fault.safeParse(answer.body).data ?? {};
    const said = (message ?? `status ${answer.status}`).slice(0, MESSAGE_MAX).toWellFormed();
    if (errorCode === UNDER_WAY) throw new Outage(PROVIDER, new Error(said));
    throw new ProviderRefusal({
      code: errorCode ? `adyen_${errorCode}` : (errorType ?? noReasonCode(answer.status)),
      message: said,
      httpStatus: answer.status,
    });
  };
}

export type AdyenClient = ReturnType<typeof adyenClient>;
