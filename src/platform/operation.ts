import type { z } from 'zod';
import type { CommandJobName } from '../queues.ts';
import type { Context } from './context.ts';
import type { Db } from './db/connect.ts';
import type { OrganizationId } from './ids.ts';
import type { Refusal } from './refusal.ts';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
/** Rate categories, each counted separately (rate-limits.md#categories, other-routes.md#common-ground). */
export const RATE_CATEGORIES = ['events', 'events_bulk', 'current_usage', 'access', 'budgets', 'default'] as const;
export type RateCategory = (typeof RATE_CATEGORIES)[number];

interface Streamed {
  stream?: AsyncIterable<string>;
  bytes?: AsyncIterable<Uint8Array>;
  contentType?: string;
}

/** Answer of an operation that needs more than a body: its own status or headers. */
export class Answer {
  readonly body: object | null;
  readonly status: number;
  readonly headers: Record<string, string>;
  /** Plain text instead of a JSON body. */
  readonly text: string | undefined;
  /** The serialised JSON body, used if numbers must keep digits that a double cannot hold. */
  readonly json: string | undefined;
  /** Text with `contentType` that is sent piece by piece. */
  readonly stream: AsyncIterable<string> | undefined;
  /** A file of `contentType` that is sent piece by piece, as it is. */
  readonly bytes: AsyncIterable<Uint8Array> | undefined;
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
    this.bytes = options.bytes;
    this.contentType = options.contentType;
  }
}

/**
 * Rules for running commands that wait for one record together: in one transaction with one lock, each with its own
 * verdict, answer, idempotency row and API log row. They record and owe nothing.
 */
export interface Gathering {
  /** Key of the record that commands wait for; commands of an organization with equal keys are gathered. */
  keyOf(input: OperationInput): string;
  /** Commands that run one after the other instead, each in its own transaction. */
  isAlone(input: OperationInput): boolean;
  /** Decides in the given order; a refused command changes nothing and does not affect later ones. */
  run?(ctx: Context, commands: readonly GatheredInput[]): Promise<(object | Refusal)[]>;
}

export interface GatheredInput {
  /** Name of the operation. */
  operation: string;
  input: OperationInput;
}

/** Input of `run`: path parameters by name, the parsed body (content of the root key), the parsed query. */
// biome-ignore lint/suspicious/noExplicitAny: the row of the table ties schema and handler together, not this type
export type OperationInput = any;

/**
 * One operation of the API, as data: the table of all of them mounts the routes, checks permissions, feeds the API
 * description and the test that every operation of the contract exists.
 */
export interface Operation {
  /** operationId of the contract; also the name under which a write travels to the worker. */
  name: string;
  method: Method;
  /** Express path below the base URL, for example `/customers/:external_id`. */
  path: string;
  /** Permission resource, or several of which one is enough; null for operations of every key. */
  permission: string | readonly string[] | null;
  /** The required mode, if it is not that of the verb (GET read, else write). */
  mode?: 'read' | 'write';
  summary: string;
  /** Up to three sentences: what else it does, when it refuses, what follows. The summary is shown before them. */
  description?: string;
  tag: string;
  category?: RateCategory;
  /** Root key of the request body; without it the whole body is parsed by `body`. */
  root?: string;
  /** Whether the body may be omitted. */
  bodyOptional?: boolean;
  body?: z.ZodType;
  /** The whole body as clients send it, for the documentation, if `body` does not show it. */
  documentedBody?: z.ZodType;
  query?: z.ZodType;
  /** Answer body, root key included. */
  answer: z.ZodType;
  /** For a read that returns a file and no body: its type. */
  fileType?: string;
  /** Whether the read may return a file to callers who accept `text/csv`; with `asCsv`, `run` does so. */
  alsoCsv?: true;
  /** Reads run in the ingress; commands run in the writes pool, in one transaction; events have a lane of their own. */
  kind: 'read' | 'command' | 'events';
  /**
   * For a read: it goes to the primary, because a replica may be a little behind or because it writes
   * (read-replicas.md#which-reads).
   */
  fresh?: true;
  /** For a command: the job that runs it, if not one of the writes pool. */
  job?: CommandJobName;
  /**
   * For a command: inputs with which a provider is asked before its transaction, by the pre-step of its name in
   * src/pre-steps.ts. It then runs in the asking pool (everywhere.md#asking-first).
   */
  asks?: (input: OperationInput) => boolean;
  /** For a read that is too expensive for the ingress: the job that computes it, with its own time limit. */
  computedBy?: 'preview.run';
  /** For a command: how those that wait for the same record run together. */
  gathers?: Gathering;
  /** For a read that is sent like a write: whether it is in the API log (logs.md#api-logs). */
  isLogged?: true;
  /** For a read: inputs with which it writes and therefore runs as a command. */
  writesWhen?: (input: OperationInput) => boolean;
  /** For a read: inputs that the pool `budgets` decides instead, together with others of the organization. */
  isDecided?: (input: OperationInput) => boolean;
  /** The Idempotency-Key header is accepted and ignored (idempotency.md: estimates, previews). */
  ignoresIdempotencyKey?: boolean;
  /** For a command: whether only its answer matters, so that it is not run if its caller has got a 504 meanwhile. */
  onlyAnswers?: true;
  /** Whether it runs while the test clock advances, without locking it (the clock's own routes). */
  exemptFromClock?: boolean;
  /** Whether the answer shows a secret that no later one does; it is stored encrypted. */
  revealsSecret?: boolean;
  /** The rate limiter does not count the request while this holds (polling an advancing clock). */
  uncountedWhile?: (db: Db, caller: { organizationId: OrganizationId; sandbox: boolean }) => Promise<boolean>;
  /** Largest body, if 1 MiB is not enough. */
  bodyLimitBytes?: number;
  /**
   * How many commas and opening brackets the body may have, and members one object of it, if what its schema says
   * (src/ingress/value-limits.ts) and 1 000 are not enough.
   */
  bodyShape?: { values: number; members: number };
  /** For the events lane: it reads the body, of this type, itself while it arrives. */
  readsOwnBody?: { contentType: string; description: string };
  /** With it: the records of which program the body holds; without it lines of events. */
  readsRecords?: 'gateway' | 'traces' | 'logs';
  /** Its errors have the form of OTLP. */
  errorsAsOtlp?: true;
  /**
   * For the events lane: the body with CloudEvents 1.0, a list of them or one, which may also be in binary mode
   * (cloud-events.md#modes).
   */
  cloudEvents?: { isList: boolean; body: z.ZodType };
  /** For the events lane: its body holds usage of models, and prompts and answers, which are kept nowhere. */
  holdsUsage?: true;
  /** Its body may settle holds with usage of models, which the door reads: prompts and answers go no further. */
  settlesUsage?: true;
  /** Whether the documentation hides it (a PATCH twin of a PUT). */
  hidden?: boolean;
  run: (ctx: Context, input: OperationInput) => Promise<object | null>;
  /**
   * For a command whose answer is a list under the root `records`: reads records by their ids, as JSON texts. Answers
   * above 1 MiB are kept as ids only (idempotency.md).
   */
  reread?: { records: string; read: (ctx: Context, ids: readonly string[]) => Promise<string[]> };
  /**
   * For a command whose answer reports an outcome that comes after its commit: waits for it in the ingress, with a
   * reading context, and returns the body of the answer. The body of `run` is stored for replays.
   */
  settle?: (ctx: Context, body: OperationInput, input: OperationInput) => Promise<object>;
}

/** `run` of a command that needs several rooms: the flow of its name runs instead, see src/flow-commands.ts. */
export const runsAsFlow = (): Promise<never> =>
  Promise.reject(new Error('the flow of this command is missing in src/flow-commands.ts'));
