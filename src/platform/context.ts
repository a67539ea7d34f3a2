import type { Redis } from 'ioredis';
import type { Temporal } from 'temporal-polyfill';
import type { JobName, JobPayload } from '../queues.ts';
import type { StepName, StepPayload } from '../steps.ts';
import type { Config } from './config.ts';
import type { Db } from './db/connect.ts';
import type { ApiKeyId, CustomerId, ExternalCustomerId, ExternalSubscriptionId, OrganizationId } from './ids.ts';
import type { Log } from './log/log.ts';
import type { Asked } from './pre-step.ts';
import type { Reactions } from './reactions.ts';
import type { EstimatedTaxes } from './taxes/port.ts';
import type { Pause } from './turns/turns.ts';

/** Who caused an action: an API key, a person in the console, or the service itself (logs.md#activity-logs). */
export interface Actor {
  source: 'api' | 'front' | 'system';
  apiKeyId: ApiKeyId | null;
  /** Whether it is a customer on its own page: the link proves the customer, not the person. */
  isPortal?: boolean;
  /** The sending program, as it names itself. */
  client?: string | null;
}

/** One line of the audit trail: an action on a record (logs.md#activity-logs). */
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

/** One line of the security log: an event about a credential or an outgoing connection (logs.md#security-logs). */
export interface SecurityEvent {
  /** For example `api_key.created`; the part before the dot is the log's type. */
  event: `${string}.${string}`;
  /** The resource concerned; changes as `{field: {deleted, added}}`. */
  resources: object;
}

/**
 * An after-step that the transaction still owes: stored as a row of its own by the commit and nudged after it. The
 * table in src/steps.ts defines its payload.
 */
export type OwedStep<Name extends StepName = StepName> = {
  [Each in Name]: {
    step: Each;
    payload: StepPayload<Each>;
    /** Business time before which it must not run; absent means at once. */
    dueAt?: Temporal.Instant;
  };
}[Name];

/**
 * Work owed by another row that has its own sweep (a run, an advancing clock): no step is stored, and only a job of
 * this name is added after the commit, with the payload and the organization's id.
 */
export type RowNudge<Name extends JobOfOrganization = JobOfOrganization> = {
  [Each in Name]: {
    nudge: Each;
    payload: Omit<JobPayload<Each>, 'organization_id'>;
    /** Nobody waits for it: it runs after everything else in its queue. */
    inBackground?: boolean;
  };
}[Name];

/** Jobs with an organization in their payload. */
type JobOfOrganization = {
  [Name in JobName]: 'organization_id' extends keyof JobPayload<Name> ? Name : never;
}[JobName];

/** Admission of a read that may compute much. */
export interface HeavyWork {
  /**
   * Waits for the organization's turn if the read is heavy, and keeps the place until its answer is written.
   *
   * subject what is read, within the organization; its weight is cached
   * weigh    counts charges, filters and groups, unless that was done lately
   *
   * @throws Refusal 503, when too many heavy reads of the organization wait, or this one has waited too long
   */
  admit(subject: string, weigh: () => Promise<number>): Promise<void>;
  /** Stores the measured weight of a read. */
  weighed(subject: string, weight: number): void;
}

/**
 * The context of a command, a query or a step, without anything global. In a command `db` is the transaction that also
 * has the idempotency row, and records are written by the same transaction.
 */
export interface Context {
  readonly organizationId: OrganizationId;
  readonly sandbox: boolean;
  readonly actor: Actor;
  readonly db: Db;
  readonly config: Config;
  readonly log: Log;
  /** Reactions to what areas announce; see `announce`. */
  readonly reactions: Reactions;
  /** Present of the organization: its test clock, else real time; fixed for the whole command. */
  now(): Temporal.Instant;
  /**
   * Adds an audit line, an outgoing event and/or a line of the security log to the transaction. `keysChanged`: what the
   * ingress caches with the organization's keys is outdated; every ingress is notified after the commit.
   */
  record(entry: { activity?: Activity; webhook?: WebhookEvent; security?: SecurityEvent; keysChanged?: true }): void;
  /**
   * Connection for reads that cache in Redis: it fails at once when Redis is away. The cache may vanish at any time.
   */
  readonly redis?: Redis;
  /** For reads: called between two pieces of a long computation, so that organizations take turns. */
  readonly pause?: Pause;
  /** For reads by a key: whether it holds a permission. Its route asked for one already. */
  readonly holds?: (resource: string, mode: 'read' | 'write') => boolean;
  /** For reads: admission of heavy ones, of which an organization has few at the same time. */
  readonly heavy?: HeavyWork;
  /** For a command that asks a provider first: the answer, and the id of the record that it makes. */
  readonly asked?: Asked;
  /** For a preview that ran before: what the tax engine answered about its invoice. */
  readonly estimatedTaxes?: EstimatedTaxes;
  /** Adds owed work to the transaction: a step to be stored, or a nudge for a row that it wrote. */
  after(owed: OwedStep | RowNudge): void;
  /**
   * Whether work of the organization is open or falls due after the present until `target`. Only in commands of the
   * test clock.
   */
  fallsDue?(target: Temporal.Instant): Promise<boolean>;
}
