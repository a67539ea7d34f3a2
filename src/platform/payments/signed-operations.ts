import type { z } from 'zod';
import { realNowMs } from '../clock/real-clock.ts';
import type { Config } from '../config.ts';
import { RefusedAddress, targetOf } from '../http/addresses.ts';
import { jsonIn } from '../http/answers.ts';
import { mayBePrivate } from '../http/may-call.ts';
import { createOutgoing, type Outgoing, type OutgoingAnswer } from '../http/outgoing.ts';
import { Outage } from '../refusal.ts';
import { storableJson } from '../schema/storable.ts';
import { Accepted, Refused } from './custom/protocol.ts';
import { CredentialsRefused, ProviderConflict, ProviderRefusal, TooManyCalls } from './port.ts';
import { KEY_CONFLICT } from './refused.ts';
import { standardHeaders } from './standard-webhooks.ts';

/** Longest wait for one answer; the job is then tried again with the same id. */
const TIMEOUT_MS = 20_000;
/** Bytes of an answer that are read: a page of a hundred payments has some thirty thousand. */
const ANSWER_MAX_BYTES = 256 * 1024;

/** A provider that speaks our protocol. */
export interface CustomTarget {
  endpointUrl: string;
  secret: string;
  /** Code of the connection, which a provider of several connections tells them apart by. */
  connection: string;
  isLive: boolean;
  /** Our address for its events, which every check tells it. */
  inboundUrl: string;
}

export type CustomAnswer<Body> = { isAccepted: false; body: Body } | { isAccepted: true; id: string };

export interface Sent {
  /** A word of the protocol of providers, or of that of access points. */
  type: string;
  /** Its idempotency key. */
  id: string;
  data: object;
}

/** Posts one operation. A repetition with the same id is the same operation. */
type Post = <Shape extends z.ZodType>(sent: Sent, shape: Shape) => Promise<CustomAnswer<z.infer<Shape>>>;

/**
 * The way to a custom provider: signed by Standard Webhooks, only to addresses that may be reached, without redirects.
 *
 *   200 an answer · 202 accepted, its outcome comes by an event · 422 refused · 409 the id was used for something else
 *   401, 403 the signature is not accepted · anything else, or no answer: nobody knows
 *
 * @throws ProviderRefusal on 422 and on an address that may not be reached; ProviderConflict on 409;
 *   CredentialsRefused, TooManyCalls and other Outages
 * Rule: provider-connections.md#custom-provider.
 */
export function customClient(
  { endpointUrl, secret, connection, isLive }: Omit<CustomTarget, 'inboundUrl'>,
  config: Config,
): Post {
  return async ({ type, id, data }, shape) => {
    const body = JSON.stringify({ type, id, connection, live: isLive, data });
    const answer = await send(endpointUrl, { id, body, secret }, config);
    const json = storableJson(jsonIn(answer.text));
    if (answer.status === 422) throw new ProviderRefusal(Refused.safeParse(json).data?.error ?? NO_REASON);
    if (answer.status === 409) throw new ProviderConflict(KEY_CONFLICT);
    if (answer.status === 202) {
      const accepted = Accepted.safeParse(json);
      if (accepted.success) return { isAccepted: true, id: accepted.data.id };
    }
    const read = answer.status === 200 ? shape.safeParse(json) : undefined;
    if (read?.success) return { isAccepted: false, body: read.data };
    const said = read ? 'a body that the protocol does not have' : `status ${answer.status}`;
    const error = new Error(`${type}: ${said}`);
    if (answer.status === 401 || answer.status === 403) throw new CredentialsRefused(connection, error, answer.status);
    if (answer.status === 429) throw new TooManyCalls(connection, error, answer.retryAfterMs);
    throw new Outage(connection, error, retryOf(answer));
  };
}

const NO_REASON = { code: 'refused', message: 'The provider refused and gave no reason.' };

const retryOf = ({ retryAfterMs }: OutgoingAnswer) => (retryAfterMs === undefined ? {} : { retryAfterMs });

async function send(
  endpointUrl: string,
  { id, body, secret }: { id: string; body: string; secret: string },
  config: Config,
): Promise<OutgoingAnswer> {
  const isPrivate = mayBePrivate(endpointUrl, config);
  try {
    const target = targetOf(endpointUrl, { allowPrivate: isPrivate });
    const nowSeconds = Math.trunc(realNowMs() / 1000);
    const headers = { 'content-type': 'application/json', ...standardHeaders(secret, { id, nowSeconds, body }) };
    return await outgoingOf(isPrivate).post(target, headers, body, TIMEOUT_MS);
  } catch (error) {
    if (error instanceof RefusedAddress) throw new ProviderRefusal({ code: 'address_refused', message: error.message });
    throw new Outage(new URL(endpointUrl).host, error);
  }
}

/** Two agents a process, whose connections are kept for the next call. */
const agents = new Map<boolean, Outgoing>();

function outgoingOf(allowPrivate: boolean): Outgoing {
  const known = agents.get(allowPrivate);
  const outgoing = known ?? createOutgoing({ allowPrivate, answerMaxBytes: ANSWER_MAX_BYTES });
  agents.set(allowPrivate, outgoing);
  return outgoing;
}
