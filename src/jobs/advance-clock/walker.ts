import { Temporal } from 'temporal-polyfill';
import { holdClock } from '../../platform/clock/organization-clock.ts';
import { realNow } from '../../platform/clock/real-clock.ts';
import type { Context } from '../../platform/context.ts';
import type { Tx } from '../../platform/db/connect.ts';
import type { PeriodicJob } from '../../platform/periodic-job.ts';
import type { Positions } from '../../platform/positions/positions.ts';
import { nudge } from '../../platform/records/nudge.ts';
import { type SystemDeps, systemTransaction } from '../../platform/records/system-transaction.ts';
import type { Nudges } from '../../platform/records/write-records.ts';
import type { ScheduleRow } from '../../schedule.ts';
import type { StepRegistry } from '../run-steps/step-registry.ts';
import { type AdvancingClock, type Lease, LeaseLost, storePosition } from './clock-lease.ts';
import type { Phase } from './phase-of-advance.ts';

/** Real time after which the clock of a silent worker is taken over. */
const LEASE_SECONDS = 60;

export interface AdvanceDeps extends SystemDeps {
  /** Jobs of clock B with their rows, in the order of one instant. */
  jobs: readonly { row: ScheduleRow; job: PeriodicJob }[];
  steps: StepRegistry;
  /** Keeps up to where replicas must have come before the organization reads from them. */
  positions?: Pick<Positions, 'keep'> | undefined;
  /** Called whenever an advance has moved on by an instant or an item. */
  onProgress?: () => void;
}

export const leaseUntil = (): Temporal.Instant => realNow().add({ seconds: LEASE_SECONDS });

/** One running advance: its position and its kind of transaction. */
export interface Walker {
  readonly deps: AdvanceDeps;
  readonly lease: Lease;
  clock: AdvancingClock;
  phase: Phase;
}

/** Stores the position of the advance before work continues. @throws LeaseLost */
export async function moveTo(
  walker: Walker,
  phase: Phase,
  at: Temporal.Instant = walker.clock.frozen_time,
  stepsDone: number = walker.clock.steps_done,
): Promise<void> {
  walker.clock = await storePosition(walker.deps.sql, walker.lease, { at, phase, stepsDone });
  walker.phase = phase;
  walker.deps.onProgress?.();
}

/**
 * One transaction of the advance: it locks the clock, so that no other worker takes over halfway, and has its instant.
 * The advance settles the steps it leaves; only deliveries are nudged.
 *
 * @throws LeaseLost
 */
export async function workAtInstant(walker: Walker, work: (ctx: Context) => Promise<void>): Promise<void> {
  const organization = { id: walker.lease.organizationId, sandbox: true };
  await nudgeDeliveries(
    walker,
    await systemTransaction(walker.deps, organization, (tx) => instantOf(tx, walker.lease), work),
  );
  walker.deps.onProgress?.();
}

export async function instantOf(tx: Tx, lease: Lease): Promise<Temporal.Instant> {
  const clock = await holdClock({ db: tx, organizationId: lease.organizationId });
  if (clock?.lease_token !== lease.token) throw new LeaseLost();
  return clock.frozen_time;
}

export async function nudgeDeliveries(walker: Walker, nudges: Nudges | null): Promise<void> {
  if (nudges) await nudge(walker.deps.producer, walker.lease.organizationId, { ...nudges, steps: [] });
}

export const isAfter = (a: Temporal.Instant, b: Temporal.Instant): boolean => Temporal.Instant.compare(a, b) > 0;
