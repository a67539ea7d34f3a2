import { realNowMs } from '../../../platform/clock/real-clock.ts';
import type { Config } from '../../../platform/config.ts';
import type { Sql } from '../../../platform/db/connect.ts';
import { type Target, targetOf } from '../../../platform/http/addresses.ts';
import { describeTrouble, type Outgoing } from '../../../platform/http/outgoing.ts';
import type { SigningKey } from '../../../platform/keys/deployment-keys.ts';
import { hmacSignature, jwtSignature, standardSignature } from '../../../platform/keys/webhook-signatures.ts';
import { publicUrl } from '../../../platform/public-url.ts';
import { endpointSecretPlace, hmacKeyPlace } from '../../../platform/secrets/secret-places.ts';
import { openText } from '../../../platform/secrets/secrets.ts';
import { headerName } from '../../../platform/wire-prefix.ts';
import { bodyOf } from '../webhooks/request-body.ts';
import type { DueDelivery, EndpointOfDelivery } from './stored-deliveries.ts';

/** Statuses that acknowledge an event; every other answer is a failure (webhooks.md#attempts). */
const ACKNOWLEDGED = new Set([200, 201, 202, 204]);
const GONE = 410;
/** Statuses whose Retry-After counts. */
const ASKING_FOR_TIME = new Set([429, 503]);

export interface Outcome {
  delivery: DueDelivery;
  acknowledged: boolean;
  /** Null when no answer came. */
  httpStatus: number | null;
  /** Start of the answer, or what went wrong. */
  response: string;
  retryAfterMs: number | undefined;
  /** The receiver wants no more events. */
  gone: boolean;
  /** How long the attempt took. */
  ms: number;
}

export interface AttemptDeps {
  config: Config;
  outgoing: Outgoing;
  /** Where sealed keys and secrets are opened. */
  sql: Sql;
  signingKey: () => Promise<SigningKey>;
}

/** Everything that the attempts of one job share, read and computed once. */
export type Attempt = (delivery: DueDelivery) => Promise<Outcome>;

/**
 * Prepares attempts for deliveries to one endpoint as it is now. An attempt never rejects: any failure on the way to
 * the receiver is its outcome. Rule: webhooks.md#request, webhooks.md#signatures.
 */
export function attempts(deps: AttemptDeps): (endpoint: EndpointOfDelivery) => Promise<Attempt> {
  const { config, outgoing } = deps;
  const prefix = config.WIRE_PREFIX;
  const timeoutMs = config.WEBHOOK_TIMEOUT_SECONDS * 1000;
  const names = {
    signature: headerName('X-Svc-Signature', prefix),
    algorithm: headerName('X-Svc-Signature-Algorithm', prefix),
    uniqueKey: headerName('X-Svc-Unique-Key', prefix),
    sequence: headerName('X-Svc-Sequence', prefix),
    replay: headerName('X-Svc-Replay', prefix),
  };

  return async (stored) => {
    const endpoint = await withOpenSecrets(deps, stored);
    const sign = await signer(deps, endpoint, publicUrl(config));
    const secrets = secretsInForce(endpoint);
    const target = readTarget(endpoint.webhook_url, config.WEBHOOK_ALLOW_PRIVATE_NETWORKS);
    return async (delivery) => {
      if (target instanceof Error) return failed(delivery, target, 0);
      const body = bodyOf(delivery.payload, prefix);
      const startedMs = realNowMs();
      const timestamp = String(Math.floor(startedMs / 1000));
      try {
        const headers = {
          'Content-Type': 'application/json',
          'User-Agent': `${prefix}-webhooks/1`,
          [names.signature]: await sign(body),
          [names.algorithm]: endpoint.signature_algo,
          [names.uniqueKey]: delivery.id,
          ...(delivery.sequence === null ? {} : { [names.sequence]: String(delivery.sequence) }),
          ...(delivery.replay_id === null ? {} : { [names.replay]: 'true' }),
          'webhook-id': delivery.id,
          'webhook-timestamp': timestamp,
          'webhook-signature': standardSignature(secrets, { id: delivery.id, timestamp, body }),
        };
        const answer = await outgoing.post(target, headers, body, timeoutMs);
        return {
          delivery,
          acknowledged: ACKNOWLEDGED.has(answer.status),
          httpStatus: answer.status,
          response: answer.text,
          retryAfterMs: ASKING_FOR_TIME.has(answer.status) ? answer.retryAfterMs : undefined,
          gone: answer.status === GONE,
          ms: realNowMs() - startedMs,
        };
      } catch (error) {
        return failed(delivery, error, realNowMs() - startedMs);
      }
    };
  };
}

const failed = (delivery: DueDelivery, error: unknown, ms: number): Outcome => ({
  delivery,
  acknowledged: false,
  httpStatus: null,
  response: describeTrouble(error),
  retryAfterMs: undefined,
  gone: false,
  ms,
});

/** The endpoint with its secrets in plain text: opened once for a job, before anything is sent. */
async function withOpenSecrets({ sql, config }: AttemptDeps, stored: EndpointOfDelivery): Promise<EndpointOfDelivery> {
  const deployment = { db: sql, config };
  const place = endpointSecretPlace(stored.webhook_endpoint_id);
  const { secret, former_secret: former, hmac_key: hmacKey } = stored;
  return {
    ...stored,
    secret: await openText(deployment, secret, place),
    former_secret: former === null ? null : await openText(deployment, former, place),
    hmac_key: await openText(deployment, hmacKey, hmacKeyPlace(stored.organization_id)),
  };
}

// The key is loaded here, once and before anything is sent: a database that is away must not look like a failed
// attempt.
async function signer(
  deps: AttemptDeps,
  endpoint: EndpointOfDelivery,
  issuer: string,
): Promise<(body: string) => string | Promise<string>> {
  if (endpoint.signature_algo === 'hmac') return (body) => hmacSignature(endpoint.hmac_key, body);
  const key = await deps.signingKey();
  return (body) => jwtSignature(key, body, issuer);
}

// Until the overlap of a rotation ends, receivers may know either secret.
function secretsInForce(endpoint: EndpointOfDelivery): string[] {
  const { secret, former_secret, former_secret_expires_at } = endpoint;
  const overlaps = former_secret_expires_at && former_secret_expires_at.epochMilliseconds > realNowMs();
  return former_secret && overlaps ? [secret, former_secret] : [secret];
}

function readTarget(url: string, allowPrivate: boolean): Target | Error {
  try {
    return targetOf(url, { allowPrivate });
  } catch (error) {
    return error as Error;
  }
}
