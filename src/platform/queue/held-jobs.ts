import type { OrganizationId } from '../ids.ts';
import type { Owner } from './shares.ts';

/** How many organizations may fill their places before others find none. */
const ORGANIZATIONS = 4;
/**
 * Texts of the payloads of an organization beyond which it has no place any more. The last one may pass it by its own
 * length: commands may be 5 MiB each.
 */
const MOST_CHARACTERS = 1024 * 1024;

/** Jobs of a queue that wait for a slot within their process, at no cost in Redis. */
export interface HeldJobs {
  /** How many there are at most: so many jobs more than it has slots may a worker take. */
  places: number;
  /**
   * Waits until the job has taken its slot, in the order of arrival among those of its lane.
   *
   * @returns false if the process ends before, which what belongs to nobody waits for; undefined, at once, if there is
   *   no place for it: that is, exactly where `room` says 0
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
  const waiting: { owner: Owner | undefined; characters: number; end(hasSlot: boolean): void }[] = [];
  let isClosed = false;
  const room = (organizationId: OrganizationId): number => {
    const own = waiting.filter(({ owner }) => owner?.organizationId === organizationId);
    const characters = own.reduce((sum, each) => sum + each.characters, 0);
    if (isClosed || characters >= MOST_CHARACTERS) return 0;
    return Math.max(0, Math.min(ofOrganization - own.length, places - waiting.length));
  };
  return {
    places,
    room,
    wait(owner, data) {
      // The worker of a part has taken no more jobs than slots and places: what belongs to nobody always finds one.
      if (owner !== undefined && room(owner.organizationId) === 0) return undefined;
      return new Promise((resolve) => waiting.push({ owner, characters: charactersOf(data), end: resolve }));
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

/** Of all texts of a payload; looks no further than MOST_CHARACTERS. */
function charactersOf(data: unknown): number {
  let characters = 0;
  const count = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) characters += typeof value === 'string' ? value.length : 1;
    else
      for (const [name, each] of Object.entries(value)) {
        if (characters >= MOST_CHARACTERS) return;
        characters += name.length;
        count(each);
      }
  };
  count(data);
  return characters;
}
