import type { Redis } from 'ioredis';
import type { Temporal } from 'temporal-polyfill';
import type { JobName, JobPayload } from '../queues.ts';
import type { StepName, StepPayload } from '../steps.ts';
import type { Config } from './config.ts';
import type { Db } from './db/connect.ts';
import type { ApiKeyId, CustomerId, ExternalCustomerId, ExternalSubscriptionId, OrganizationId } from './ids.ts';
import type { Log } from './log/log.ts';
import type { Reactions } from './reactions.ts';
import type { Pause } from './turns/turns.ts';

/** Who caused an action: a key of the API, or the service itself (logs.md#activity-logs). */
export interface Actor {
  source: 'api' | 'system';
  apiKeyId: ApiKeyId | null;
  /** Program that sent the request, as it names itself. */
  client?: string | null;
}

/** One line of the audit trail: what happened to which record (logs.md#activity-logs). */
export interface Activity {
  /** For example `customer.created`. */
  type: string;
  resourceType: string;
  resourceId: string;
  /** The record as the API shows it after the action. */
  object: object;
  /** `{key: [before, after]}`, only for types that contain `updated`. */
  changes?: Record<string, [unknown, unknown]>;
  externalCustomerId?: ExternalCustomerId | null;
  externalSubscriptionId?: ExternalSubscriptionId | null;
}

/** One outgoing event; a delivery row is made for each endpoint that listens (webhooks.md). */
export interface WebhookEvent {
  type: string;
  objectType: string;
  objectId: string | null;
  customerId?: CustomerId | null;
  object: object;
}

/** One line of the security log: what happened to a credential or a way out (logs.md#security-logs). */
export interface SecurityEvent {
  /** For example `api_key.created`; the part before the dot is the log's type. */
  event: `${string}.${string}`;
  /** What it concerns; what changed as `{field: {deleted, added}}`. */
  resources: object;
}

/**
 * An after-step that the transaction still owes: stored as a row of its own by the commit and nudged after it. The
 * table of src/steps.ts ties name and payload.
 */
export type OwedStep<Name extends StepName = StepName> = {
  [Each in Name]: {
    step: Each;
    payload: StepPayload<Each>;
    /** Business time before which it must not run; absent = at once. */
    dueAt?: Temporal.Instant;
  };
}[Name];

/**
 * Work that another row owes, which a sweep of its own finds (a run, an advancing clock): no step is stored, only the
 * queue's job of this name is added after the commit, with the payload and the organization's id.
 */
export type RowNudge<Name extends JobOfOrganization = JobOfOrganization> = {
  [Each in Name]: { nudge: Each; payload: Omit<JobPayload<Each>, 'organization_id'> };
}[Name];

/** Jobs that name the organization whose work they are. */
type JobOfOrganization = {
  [Name in JobName]: 'organization_id' extends keyof JobPayload<Name> ? Name : never;
}[JobName];

/** How a read that may compute much asks to begin. */
export interface HeavyWork {
  /**
   * Waits for the organization's turn when the read is heavy, and keeps it until its answer is written.
   *
   * subject  what is read, within the organization: its weight is remembered
   * weigh    counts charges, filters and groups, unless that was done lately
   *
   * @throws Refusal 503, when too many heavy reads of the organization wait, or this one has waited too long
   */
  admit(subject: string, weigh: () => Promise<number>): Promise<void>;
  /** Remembers what a read turned out to weigh. */
  weighed(subject: string, weight: number): void;
}

/**
 * What a command, a query or a step of a flow gets: nothing in it is global. In a command `db` is the transaction that
 * also holds the idempotency row; whatever is recorded is written by the same transaction.
 */
export interface Context {
  readonly organizationId: OrganizationId;
  readonly sandbox: boolean;
  readonly actor: Actor;
  readonly db: Db;
  readonly config: Config;
  readonly log: Log;
  /** What follows what the areas announce; see `announce`. */
  readonly reactions: Reactions;
  /** Present of the organization: its test clock, else real time; fixed for the whole command. */
  now(): Temporal.Instant;
  /**
   * Adds an audit line, an outgoing event and/or a line of the security log to the transaction. `keysChanged`: what the
   * ingress knows with the organization's keys is no longer true; every ingress hears of it after the commit.
   */
  record(entry: { activity?: Activity; webhook?: WebhookEvent; security?: SecurityEvent; keysChanged?: true }): void;
  /**
   * Connection of reads that may keep something in Redis: it fails at once when Redis is away. Whatever is there may
   * vanish at any time.
   */
  readonly redis?: Redis;
  /** Of reads: called between two pieces of a long computation, so that other organizations have their turns. */
  readonly pause?: Pause;
  /** Of reads by a key: whether it holds a permission. Its route asked for one already. */
  readonly holds?: (resource: string, mode: 'read' | 'write') => boolean;
  /** Of reads: admission of heavy ones, of which an organization has few at once. */
  readonly heavy?: HeavyWork;
  /** Adds owed work to the transaction: a step that it stores, or a nudge of a row that it wrote. */
  after(owed: OwedStep | RowNudge): void;
  /**
   * Whether anything of the organization is open or falls due after the present until `target`. Only in commands, for
   * those of the test clock.
   */
  fallsDue?(target: Temporal.Instant): Promise<boolean>;
}
