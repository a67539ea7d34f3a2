import { nameOf } from './parked-jobs.ts';
import type { Lane, Owner } from './shares.ts';

/** Lanes that may have parked jobs, as far as a process knows: where it calls when jobs of their organization leave. */
export interface CrowdedLanes {
  add(lane: Lane): void;
  delete(lane: Lane): void;
  has(lane: Lane): boolean;
  /** Those of the owner's organization: its customer's first, then the organization's own, then others. */
  of(owner: Owner): Iterable<Lane>;
  /** Forgets all others. */
  replace(lanes: readonly Lane[]): void;
}

export function openCrowdedLanes(): CrowdedLanes {
  const organizations = new Map<string, Map<string, Lane>>();
  const add = (lane: Lane): void => {
    const lanes = organizations.get(lane.organizationId) ?? new Map<string, Lane>();
    organizations.set(lane.organizationId, lanes.set(nameOf(lane), lane));
  };
  return {
    add,
    delete(lane) {
      const lanes = organizations.get(lane.organizationId);
      lanes?.delete(nameOf(lane));
      if (lanes?.size === 0) organizations.delete(lane.organizationId);
    },
    has: (lane) => organizations.get(lane.organizationId)?.has(nameOf(lane)) ?? false,
    *of({ organizationId, customerKey }) {
      const lanes = organizations.get(organizationId);
      if (lanes === undefined) return;
      const first = [...(customerKey === undefined ? [] : [nameOf({ organizationId, customerKey })]), organizationId];
      for (const name of first) if (lanes.has(name)) yield lanes.get(name)!;
      // There may be thousands: whoever asks stops when it has enough.
      for (const [name, lane] of lanes) if (!first.includes(name)) yield lane;
    },
    replace(lanes) {
      organizations.clear();
      for (const lane of lanes) add(lane);
    },
  };
}
