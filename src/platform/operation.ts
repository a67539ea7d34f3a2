import type { z } from 'zod';
import type { CommandJobName } from '../queues.ts';
import type { Context } from './context.ts';
import type { Db } from './db/connect.ts';
import type { Refusal } from './refusal.ts';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
/** What counts together for the rate limiter (rate-limits.md#categories, other-routes.md#common-ground). */
export const RATE_CATEGORIES = ['events', 'events_bulk', 'current_usage', 'access', 'default'] as const;
export type RateCategory = (typeof RATE_CATEGORIES)[number];

interface Streamed {
  stream?: AsyncIterable<string>;
  contentType?: string;
}

/** Answer of an operation that needs more than a body: its own status or headers. */
export class Answer {
  readonly body: object | null;
  readonly status: number;
  readonly headers: Record<string, string>;
  /** Plain text instead of a JSON body. */
  readonly text: string | undefined;
  /** The JSON body, serialised already: where numbers must keep digits that a double cannot hold. */
  readonly json: string | undefined;
  /** Text that is sent piece by piece as it comes, of `contentType`. */
  readonly stream: AsyncIterable<string> | undefined;
  readonly contentType: string | undefined;

  constructor(
    body: object | null,
    options: { status?: number; headers?: Record<string, string>; text?: string; json?: string } & Streamed = {},
  ) {
    this.body = body;
    this.status = options.status ?? 200;
    this.headers = options.headers ?? {};
    this.text = options.text;
    this.json = options.json;
    this.stream = options.stream;
    this.contentType = options.contentType;
  }
}

/**
 * How commands that wait for one record are run together: in one transaction with one lock, each with its own verdict,
 * answer, idempotency row and line in the API log. They record nothing and owe nothing.
 */
export interface Gathering {
  /** The record that commands wait for: those of an organization with equal keys are gathered. */
  keyOf(input: OperationInput): string;
  /** Commands that are run one after the other instead, each in a transaction of its own. */
  isAlone(input: OperationInput): boolean;
  /** Decides in the order given; a refused command changes nothing, and those after it do not notice. */
  run?(ctx: Context, commands: readonly GatheredInput[]): Promise<(object | Refusal)[]>;
}

export interface GatheredInput {
  /** Name of the operation. */
  operation: string;
  input: OperationInput;
}

/** What `run` gets: path parameters by name, the parsed body (content of the root key), the parsed query. */
// biome-ignore lint/suspicious/noExplicitAny: the row of the table ties schema and handler together, not this type
export type OperationInput = any;

/**
 * One operation of the API, as data: the table of all of them mounts the routes, checks permissions, feeds the OpenAPI
 * page and the test that every operation of the contract exists (style 2).
 */
export interface Operation {
  /** operationId of the contract; also the name under which a write travels to the worker. */
  name: string;
  method: Method;
  /** Express path below the base URL, for example `/customers/:external_id`. */
  path: string;
  /** Permission resource, or several of which one is enough; null for operations of every key. */
  permission: string | readonly string[] | null;
  /** Mode asked for when it is not the one of the verb (GET read, else write). */
  mode?: 'read' | 'write';
  summary: string;
  tag: string;
  category?: RateCategory;
  /** Root key of the request body; without it the whole body is parsed by `body`. */
  root?: string;
  /** The body may be left out altogether. */
  bodyOptional?: boolean;
  body?: z.ZodType;
  /** The whole body as clients send it, for the documentation, where `body` does not show it. */
  documentedBody?: z.ZodType;
  query?: z.ZodType;
  /** Answer body, root key included. */
  answer: z.ZodType;
  /** A read that a caller who accepts `text/csv` gets as a file: `asCsv` says so to `run`. */
  alsoCsv?: true;
  /** Reads run in the ingress; commands run in the writes pool, in one transaction; events have a lane of their own. */
  kind: 'read' | 'command' | 'events';
  /** Of a command: the job that runs it, where that is not one of the writes pool. */
  job?: CommandJobName;
  /** Of a read that is too dear for the ingress: the job that computes it, within a time of its own. */
  computedBy?: 'preview.run';
  /** Of a command: those that wait for the same record are run together. */
  gathers?: Gathering;
  /** Of a read that is sent as a write: it stands in the API log all the same (logs.md#api-logs). */
  isLogged?: true;
  /** Of a read: inputs with which it writes after all, and is run as a command. */
  writesWhen?: (input: OperationInput) => boolean;
  /** The Idempotency-Key header is accepted and ignored (idempotency.md: estimates, previews). */
  ignoresIdempotencyKey?: boolean;
  /** Of a command: nothing depends on it but its answer, so it is not run when its caller has had a 504 meanwhile. */
  onlyAnswers?: true;
  /** Runs while the test clock advances, and does not lock it (the clock's own routes). */
  exemptFromClock?: boolean;
  /** The answer shows a secret that no later one does; it is stored encrypted. */
  revealsSecret?: boolean;
  /** Not counted by the rate limiter while this holds for the caller (polling an advancing clock). */
  uncountedWhile?: (db: Db, caller: { organizationId: string; sandbox: boolean }) => Promise<boolean>;
  /** Largest body, where 1 MiB is not enough. */
  bodyLimitBytes?: number;
  /** Of the events lane: it reads the body itself, as it arrives. */
  readsOwnBody?: boolean;
  /** Not shown as an operation of its own in the documentation (a PATCH twin of a PUT). */
  hidden?: boolean;
  run: (ctx: Context, input: OperationInput) => Promise<object | null>;
  /**
   * Of a command whose answer is a list under the root `records`: reads records by their ids, as JSON texts. Answers
   * above 1 MiB are kept as ids only (idempotency.md).
   */
  reread?: { records: string; read: (ctx: Context, ids: readonly string[]) => Promise<string[]> };
  /**
   * Of a command whose answer reports an outcome that comes after its commit: waits for it in the ingress, with a
   * reading context, and gives the body to answer. The body that `run` gave is the one stored for replays.
   */
  settle?: (ctx: Context, body: OperationInput, input: OperationInput) => Promise<object>;
}

/** `run` of a command that walks through several rooms: the flow of its name does it, see src/flow-commands.ts. */
export const runsAsFlow = (): Promise<never> =>
  Promise.reject(new Error('the flow of this command is missing in src/flow-commands.ts'));
