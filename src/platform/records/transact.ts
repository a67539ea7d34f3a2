import type { Temporal } from 'temporal-polyfill';
import { holdOrganizationNow, isSandbox, readOrganizationNow } from '../clock/organization-clock.ts';
import type { Context } from '../context.ts';
import type { Tx } from '../db/connect.ts';
import type { Scope } from '../db/scope.ts';
import type { OrganizationId } from '../ids.ts';
import { nudge } from './nudge.ts';
import { type SystemDeps, systemTransaction } from './system-transaction.ts';

/**
 * Runs one transaction of the service itself and, after its commit, nudges what it owes.
 *
 * @param present locks and returns the organization's time as `systemTransaction` says; null ends it without work
 */
export async function transact(
  deps: SystemDeps,
  organization: { id: OrganizationId; sandbox: boolean },
  present: (tx: Tx) => Promise<Temporal.Instant | null>,
  work: (ctx: Context) => Promise<void>,
): Promise<void> {
  const nudges = await systemTransaction(deps, organization, present, work);
  if (nudges) await nudge(deps.producer, organization.id, nudges);
}

type Work = (ctx: Context) => Promise<void>;

/** Runs one transaction at the organization's present; its test clock does not move before the end. */
export const transactHoldingClock = (deps: SystemDeps, organizationId: OrganizationId, work: Work): Promise<void> =>
  transactAt(deps, organizationId, holdOrganizationNow, work);

/** Runs one transaction at the present, which it reads without waiting for an advance of a test clock. */
export const transactAtPresent = (deps: SystemDeps, organizationId: OrganizationId, work: Work): Promise<void> =>
  transactAt(deps, organizationId, readOrganizationNow, work);

async function transactAt(
  deps: SystemDeps,
  organizationId: OrganizationId,
  present: (scope: Scope<Tx>, sandbox: boolean) => Promise<Temporal.Instant>,
  work: Work,
): Promise<void> {
  const sandbox = await isSandbox({ db: deps.sql, organizationId });
  await transact(deps, { id: organizationId, sandbox }, (tx) => present({ db: tx, organizationId }, sandbox), work);
}
