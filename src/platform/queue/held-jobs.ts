import type { OrganizationId } from '../ids.ts';
import type { Owner } from './shares.ts';

/** How many organizations may fill their places before others find none. */
const ORGANIZATIONS = 4;
/** Longest texts of a payload that is kept: commands may be 5 MiB each. */
const MOST_CHARACTERS = 64 * 1024;

/** Jobs of a queue that wait for a slot within their process, at no cost in Redis. */
export interface HeldJobs {
  /** How many there are at most: so many jobs more than it has slots may a worker take. */
  places: number;
  /**
   * Waits until the job has taken its slot, in the order of arrival among those of its lane.
   *
   * @returns false if the process ends before, which what belongs to nobody waits for; undefined, at once, if there is
   *   no place for it
   */
  wait(owner: Owner | undefined, data: unknown): Promise<boolean> | undefined;
  /** Lets all go on that can take a slot now. */
  letGo(): void;
  /** Places that are left for an organization. */
  room(organizationId: OrganizationId): number;
  /** Sends all away. */
  close(): void;
}

/**
 * ofOrganization  how many jobs of one organization may wait; 0: none is held
 * enter           takes a slot for a job if it has one
 *
 * Rule: queues-and-workers.md#waiting-for-a-slot.
 */
export function openHeldJobs(ofOrganization: number, enter: (owner: Owner | undefined) => boolean): HeldJobs {
  const places = ofOrganization * ORGANIZATIONS;
  const waiting: { owner: Owner | undefined; end(hasSlot: boolean): void }[] = [];
  let isClosed = false;
  const room = (organizationId: OrganizationId): number => {
    const own = waiting.filter(({ owner }) => owner?.organizationId === organizationId).length;
    return Math.max(0, Math.min(ofOrganization - own, places - waiting.length));
  };
  return {
    places,
    room,
    wait(owner, data) {
      // A worker has taken no more jobs than slots and places: what belongs to nobody always finds one.
      if (owner !== undefined && (isClosed || room(owner.organizationId) === 0 || !isSmall(data))) return undefined;
      return new Promise((resolve) => waiting.push({ owner, end: resolve }));
    },
    letGo() {
      for (let at = 0; at < waiting.length; ) {
        if (enter(waiting[at]!.owner)) waiting.splice(at, 1)[0]!.end(true);
        else at += 1;
      }
    },
    close() {
      isClosed = true;
      const owned = waiting.filter(({ owner }) => owner !== undefined);
      for (const each of owned) waiting.splice(waiting.indexOf(each), 1);
      for (const { end } of owned) end(false);
    },
  };
}

/** Whether the texts of a payload are short enough together; looks no further than it must. */
function isSmall(data: unknown): boolean {
  let left = MOST_CHARACTERS;
  const count = (value: unknown): void => {
    if (left < 0) return;
    if (typeof value !== 'object' || value === null) left -= typeof value === 'string' ? value.length : 1;
    else
      for (const [name, each] of Object.entries(value)) {
        left -= name.length;
        count(each);
        if (left < 0) return;
      }
  };
  count(data);
  return left >= 0;
}
