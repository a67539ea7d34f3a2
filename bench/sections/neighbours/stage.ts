import { Pool } from 'undici';
import { BASE_PATH } from '../../../src/ingress/answer-request.ts';
import { announceKeys } from '../../../src/platform/redis/announce-keys.ts';
import { openClient } from '../../data/client.ts';
import { createBenchOrganization } from '../../data/organization.ts';
import type { Environment } from '../../harness/environment.ts';
import { plansOf } from './attacks.ts';

/** Answers are read and dropped whatever their status; a request without an answer in this time is given up. */
const PATIENCE_MS = 12_000;
const CONNECTIONS = 128;
const LIMITS = { rate_limit_default: 50, rate_limit_events: 500, rate_limit_events_bulk: 10 } as const;

/** Sends whatever it is given. */
export interface Sender {
  get(path: string): Promise<number>;
  post(path: string, body: string | Buffer, headers?: Record<string, string>): Promise<number>;
}

/** Organizations at one service: the busy one has what the attacks need, and the limits of every new one. */
export interface Stage {
  busy: Sender;
  busyId: string;
  /**
   * Another organization without limits, whose one wallet gets the holds, so that holds and not the limiter are
   * measured.
   */
  rich: Sender;
  walletId: string;
  neighbourKey: string;
  strangerWith(apiKey: string): Sender;
  /** Holds the row of a customer of the busy organization until `end`. */
  lockCustomer(externalId: string): Promise<{ end(): Promise<void> }>;
  /** Drops jobs that attacks left waiting. */
  close(): Promise<void>;
}

export async function openStage(environment: Environment, url: string): Promise<Stage> {
  const busy = await createBenchOrganization(environment, 'Bench busy');
  const neighbour = await createBenchOrganization(environment, 'Bench neighbour');
  const rich = await createBenchOrganization(environment, 'Bench rich');
  const client = openClient(url, busy.apiKey);
  const banker = openClient(url, rich.apiKey);
  const { billable_metric: metric } = await client.make('/billable_metrics', {
    billable_metric: { name: 'Requests', code: 'requests', aggregation_type: 'count_agg' },
  });
  for (const plan of plansOf(metric.svc_id)) await client.make('/plans', plan);
  await client.make('/customers', { customer: { external_id: 'locked', currency: 'EUR' } });
  await client.make('/subscriptions', {
    subscription: { external_customer_id: 'locked', plan_code: 'large', external_id: 'large' },
  });
  await banker.make('/customers', { customer: { external_id: 'rich', currency: 'EUR' } });
  const { wallet } = await banker.make('/wallets', {
    wallet: {
      external_customer_id: 'rich',
      name: 'Hot',
      rate_amount: '1',
      currency: 'EUR',
      granted_credits: '1000000',
    },
  });
  await Promise.all([client.close(), banker.close()]);
  await limit(environment, busy.id);
  const pool = new Pool(url, {
    connections: CONNECTIONS,
    pipelining: 1,
    headersTimeout: PATIENCE_MS,
    bodyTimeout: PATIENCE_MS,
  });
  const { sql } = environment;
  return {
    busy: senderOf(pool, busy.apiKey),
    busyId: busy.id,
    rich: senderOf(pool, rich.apiKey),
    walletId: wallet.svc_id,
    neighbourKey: neighbour.apiKey,
    strangerWith: (apiKey) => senderOf(pool, apiKey),
    async lockCustomer(externalId) {
      const holder = await sql.reserve();
      await holder`begin`;
      await holder`
        select from customers where organization_id = ${busy.id} and external_id = ${externalId} for update`;
      return {
        async end() {
          await holder`commit`;
          holder.release();
        },
      };
    },
    close: () => pool.destroy(),
  };
}

/** Makes the ingress forget what it cached with the organization's keys, as any change of limits does. */
async function limit({ sql, redis, prefix }: Environment, organizationId: string): Promise<void> {
  const { rate_limit_default, rate_limit_events, rate_limit_events_bulk } = LIMITS;
  await sql`
    update organizations
    set rate_limit_default = ${rate_limit_default}, rate_limit_events = ${rate_limit_events},
      rate_limit_events_bulk = ${rate_limit_events_bulk}
    where id = ${organizationId}`;
  await announceKeys(redis, prefix)(organizationId);
}

function senderOf(pool: Pool, apiKey: string): Sender {
  const send = async (
    method: 'GET' | 'POST',
    path: string,
    body: string | Buffer | undefined,
    more: Record<string, string>,
  ): Promise<number> => {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...more };
    const sent = body === undefined ? {} : { body };
    const answer = await pool.request({ method, path: `${BASE_PATH}${path}`, headers, ...sent });
    await answer.body.dump();
    return answer.statusCode;
  };
  return {
    get: (path) => send('GET', path, undefined, {}),
    post: (path, body, headers = {}) => send('POST', path, body, headers),
  };
}
