import type { OrganizationId } from '../ids.ts';
/** Fields of a payload that name the owner of a job. */
export interface Owner {
  organizationId: OrganizationId;
  /** Any key of one customer of the organization; absent if the job has none, or an unknown one. */
  customerKey: string | undefined;
}

/** Jobs of one customer in flight: they lock the same rows, and a third one would wait for the other two. */
export const JOBS_PER_CUSTOMER = 2;

/** One list of waiting jobs: those of an organization, or those of one of its customers. */
export interface Lane {
  organizationId: OrganizationId;
  customerKey?: string;
}

/** Slots of one queue in one process, and their holders. */
export interface Shares {
  /** Takes a slot for a job; otherwise returns the lane that has none left. */
  enter(owner: Owner): { full: Lane } | { full: undefined };
  leave(owner: Owner): void;
  /** Takes a slot for a job without an organization; false if none is free. */
  enterUnowned(): boolean;
  leaveUnowned(): void;
  /** Jobs of this lane that may start now. */
  room(lane: Lane): number;
}

/**
 * Limits the slots of a process that one organization holds: it gets another one while more slots are free than it
 * holds. So one busy organization has half of them, two have a third each, and some are always free for the next one.
 * There are no more slots than connections, so the same holds for connections. Each process counts by itself, so a
 * killed one leaves nothing behind.
 *
 *   slots 10, organization A alone → 5; then B → 3 (2 are left); then C → 1
 *
 * mostOfOrganization  share of the slots that it holds at most, however many are free; one slot in any case
 *
 * Rule: everywhere.md#bounded-cost.
 */
export function openShares(slots: number, mostOfOrganization = 1): Shares {
  const most = Math.max(1, Math.floor(slots * mostOfOrganization));
  const organizations = new Map<string, { jobs: number; customers: Map<string, number> }>();
  let taken = 0;

  const heldBy = (id: string): number => organizations.get(id)?.jobs ?? 0;
  const heldByCustomer = (id: string, customerKey: string): number =>
    organizations.get(id)?.customers.get(customerKey) ?? 0;
  const roomOfOrganization = (id: string): number =>
    Math.max(0, Math.min(Math.ceil((slots - taken - heldBy(id)) / 2), most - heldBy(id)));
  const roomOfCustomer = (id: string, customerKey: string): number =>
    Math.min(JOBS_PER_CUSTOMER - heldByCustomer(id, customerKey), roomOfOrganization(id));

  return {
    enter({ organizationId, customerKey }) {
      if (customerKey !== undefined && heldByCustomer(organizationId, customerKey) >= JOBS_PER_CUSTOMER)
        return { full: { organizationId, customerKey } };
      if (roomOfOrganization(organizationId) === 0) return { full: { organizationId } };
      const organization = organizations.get(organizationId) ?? { jobs: 0, customers: new Map<string, number>() };
      organizations.set(organizationId, organization);
      organization.jobs += 1;
      taken += 1;
      if (customerKey !== undefined)
        organization.customers.set(customerKey, heldByCustomer(organizationId, customerKey) + 1);
      return { full: undefined };
    },
    leave({ organizationId, customerKey }) {
      const organization = organizations.get(organizationId)!;
      organization.jobs -= 1;
      taken -= 1;
      if (organization.jobs === 0) organizations.delete(organizationId);
      if (customerKey === undefined) return;
      const left = organization.customers.get(customerKey)! - 1;
      if (left === 0) organization.customers.delete(customerKey);
      else organization.customers.set(customerKey, left);
    },
    enterUnowned() {
      if (taken >= slots) return false;
      taken += 1;
      return true;
    },
    leaveUnowned() {
      taken -= 1;
    },
    room: ({ organizationId, customerKey }) =>
      customerKey === undefined ? roomOfOrganization(organizationId) : roomOfCustomer(organizationId, customerKey),
  };
}
