import type { z } from 'zod';
import { Outage } from '../../refusal.ts';
import { callJson, type JsonCall } from '../json-call.ts';
import { noReasonCode, type ProviderError, ProviderRefusal } from '../port.ts';
import { Fault, Meta } from './answers.ts';

/** Version of the interface whose answers we read. */
const VERSION = '2015-07-06';
/** Its limit is 1000 calls a minute; it says at which instant the minute ends. */
const RESET_HEADER = 'ratelimit-reset';
/** How many characters of a refusal are kept: more than any real one has. */
const MESSAGE_MAX = 1000;

export const PROVIDER = 'gocardless';

const ADDRESSES = { live: 'https://api.gocardless.com', sandbox: 'https://api-sandbox.gocardless.com' };

/** A refusal of GoCardless, with what it names. */
export class GocardlessRefusal extends ProviderRefusal {
  /** The record that was made by an earlier call with the same key. */
  readonly conflictingId: string | undefined;
  /** The mandate that replaces the one of the call. */
  readonly newMandateId: string | undefined;

  constructor(error: ProviderError, named: { conflictingId?: string | undefined; newMandateId?: string | undefined }) {
    super(error);
    this.conflictingId = named.conflictingId;
    this.newMandateId = named.newMandateId;
  }
}

export interface GocardlessTarget {
  accessToken: string;
  isLive: boolean;
  /** Address of the API; absent for GoCardless itself. */
  apiUrl: string | undefined;
}

export type GocardlessClient = ReturnType<typeof gocardlessClient>;

/**
 * The interface of GoCardless: records are enveloped by the name of their collection, in both directions.
 *
 * @throws GocardlessRefusal; Outage; TooManyCalls
 */
export function gocardlessClient({ accessToken, isLive, apiUrl }: GocardlessTarget) {
  const base = (apiUrl ?? ADDRESSES[isLive ? 'live' : 'sandbox']).replace(/\/+$/, '');
  const common = { authorization: `Bearer ${accessToken}`, 'gocardless-version': VERSION };

  async function call(what: Pick<JsonCall, 'method' | 'body'> & { path: string; key?: string }): Promise<unknown> {
    const headers = { ...common, ...(what.key === undefined ? {} : { 'idempotency-key': what.key }) };
    const { method, path, body } = what;
    const answer = await callJson(
      PROVIDER,
      { method, url: `${base}${path}`, headers, ...(body ? { body } : {}) },
      RESET_HEADER,
    );
    if (answer.status >= 200 && answer.status < 300) return answer.body;
    throw refusalOf(answer.status, answer.body);
  }

  return {
    /** Makes a record; a repetition with the same key is refused and names the first one. */
    async create<Shape extends z.ZodType>(
      collection: string,
      shape: Shape,
      { fields, key }: { fields: object; key: string },
    ): Promise<z.infer<Shape>> {
      const body = await call({ method: 'POST', path: `/${collection}`, body: { [collection]: fields }, key });
      return readAs(shape, partOf(body, collection), collection);
    },
    async read<Shape extends z.ZodType>(collection: string, shape: Shape, id: string): Promise<z.infer<Shape>> {
      const body = await call({ method: 'GET', path: `/${collection}/${encodeURIComponent(id)}` });
      return readAs(shape, partOf(body, collection), collection);
    },
    async act(collection: string, id: string, { action, key }: { action: string; key: string }): Promise<void> {
      const path = `/${collection}/${encodeURIComponent(id)}/actions/${action}`;
      await call({ method: 'POST', path, body: { data: {} }, key });
    },
    async list<Shape extends z.ZodType>(
      collection: string,
      shape: Shape,
      filters: Record<string, string>,
    ): Promise<{ items: z.infer<Shape>[]; next: string | null }> {
      const body = await call({ method: 'GET', path: `/${collection}?${new URLSearchParams(filters)}` });
      const items = readAs(shape.array(), partOf(body, collection), collection) as z.infer<Shape>[];
      return { items, next: Meta.safeParse(partOf(body, 'meta')).data?.cursors?.after ?? null };
    },
  };
}

const partOf = (body: unknown, name: string): unknown => (body as Record<string, unknown> | undefined)?.[name];

/** @throws Outage, because nobody knows what an answer of another shape means */
function readAs<Shape extends z.ZodType>(shape: Shape, value: unknown, name: string): z.infer<Shape> {
  const read = shape.safeParse(value);
  if (read.success) return read.data;
  throw new Outage(PROVIDER, new Error(`${name}: an answer of another shape`));
}

/** Its reasons are more exact than the type of the error, and validation names the fields. */
function refusalOf(status: number, body: unknown): GocardlessRefusal {
  const fault = Fault.safeParse(body).data?.error;
  const details = fault?.errors ?? [];
  const first = details.find(({ reason }) => reason !== undefined);
  const fields = details.flatMap(({ field, message }) => (field ? [`${field} ${message ?? ''}`.trim()] : []));
  const message = [fault?.message ?? `status ${status}`, ...(fields.length > 0 ? [`(${fields.join(', ')})`] : [])];
  return new GocardlessRefusal(
    {
      code: first?.reason ?? fault?.type ?? noReasonCode(status),
      message: message.join(' ').slice(0, MESSAGE_MAX).toWellFormed(),
      httpStatus: status,
    },
    { conflictingId: first?.links?.conflicting_resource_id, newMandateId: first?.links?.new_mandate },
  );
}
