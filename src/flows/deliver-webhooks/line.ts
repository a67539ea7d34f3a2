import { realNowMs } from '../../platform/clock/real-clock.ts';

/** Jobs of one endpoint that a process holds, under way or waiting: more could not send at once. */
const JOBS_PER_ENDPOINT = 8;
/** Slots freed by other processes are not announced: a waiting job looks again after this time. */
const LOOK_AGAIN_MS = 250;
/** A job waits here no longer, so that a stopping process is soon done. */
const WAIT_AT_MOST_MS = 5000;

/** Time away of a job that goes back to the queue, in the middle and to either side (performance-design 7, rule 5). */
const AWAY_MS = 250;
const AWAY_SPREAD_MS = 100;
/** Of a backlog the jobs come back one after the other at this distance. */
const APART_MS = 3;
/** That makes 1 000 jobs at most: the deliveries of others wait as rows alone, which costs nothing. */
const AWAY_AT_MOST_MS = 3000;

interface Lane {
  jobs: number;
  waiting: (() => void)[];
  /** When the last of those that went back comes again. */
  backAtMs: number;
}

/**
 * The jobs of this process that are to share the slots. A job that goes back to the queue is away for a quarter of a
 * second; a few stay in line instead, so that a freed slot is used at once. Those that do go back are spread: thousands
 * that ask four times a second would leave no time for sending.
 */
export interface Line {
  /** False when the endpoint or the organization has its share of this process's jobs: the job has to go back. */
  enter(organizationId: string, endpointId: string): boolean;
  leave(organizationId: string, endpointId: string): void;
  /** Whether nobody waits for this endpoint. */
  isFree(endpointId: string): boolean;
  /** Waits behind the others of this endpoint for a slot that may be free; false when it took too long. */
  wait(endpointId: string, sinceMs: number): Promise<boolean>;
  /** Slots of the organization came free: the first of each of its endpoints may look. */
  freed(organizationId: string): void;
  /** When a job that has to go back should come again; null when too many are away already. */
  awayMs(endpointId: string): number | null;
}

/** @param jobsPerOrganization jobs of one organization that the process holds at most */
export function openLine(jobsPerOrganization: number): Line {
  const lanes = new Map<string, Lane>();
  const organizations = new Map<string, { jobs: number; endpoints: Set<string> }>();
  const laneOf = (endpointId: string): Lane => {
    let lane = lanes.get(endpointId);
    if (!lane) {
      forgetOld(lanes);
      lane = { jobs: 0, waiting: [], backAtMs: 0 };
      lanes.set(endpointId, lane);
    }
    return lane;
  };
  return {
    enter(organizationId, endpointId) {
      const lane = laneOf(endpointId);
      const organization = organizations.get(organizationId) ?? { jobs: 0, endpoints: new Set<string>() };
      if (lane.jobs >= JOBS_PER_ENDPOINT || organization.jobs >= jobsPerOrganization) return false;
      lane.jobs += 1;
      organization.jobs += 1;
      organizations.set(organizationId, organization);
      organization.endpoints.add(endpointId);
      return true;
    },
    leave(organizationId, endpointId) {
      const lane = laneOf(endpointId);
      lane.jobs -= 1;
      const organization = organizations.get(organizationId)!;
      organization.jobs -= 1;
      if (lane.jobs === 0) organization.endpoints.delete(endpointId);
      if (organization.jobs === 0) organizations.delete(organizationId);
    },
    isFree: (endpointId) => laneOf(endpointId).waiting.length === 0,
    async wait(endpointId, sinceMs) {
      const { waiting } = laneOf(endpointId);
      await new Promise<void>((resolve) => {
        const go = () => {
          clearTimeout(timer);
          waiting.splice(waiting.indexOf(go), 1);
          resolve();
        };
        const timer = setTimeout(go, LOOK_AGAIN_MS);
        waiting.push(go);
      });
      return realNowMs() - sinceMs < WAIT_AT_MOST_MS;
    },
    freed(organizationId) {
      for (const endpointId of organizations.get(organizationId)?.endpoints ?? []) laneOf(endpointId).waiting[0]?.();
    },
    awayMs(endpointId) {
      const lane = laneOf(endpointId);
      const now = realNowMs();
      const usual = now + AWAY_MS + AWAY_SPREAD_MS * (2 * Math.random() - 1);
      const inTurn = lane.backAtMs + APART_MS;
      if (inTurn > now + AWAY_AT_MOST_MS) return null;
      lane.backAtMs = Math.max(usual, inTurn);
      return Math.floor(lane.backAtMs - now);
    },
  };
}

const LANES_REMEMBERED = 1000;

function forgetOld(lanes: Map<string, Lane>): void {
  if (lanes.size < LANES_REMEMBERED) return;
  const now = realNowMs();
  for (const [endpointId, lane] of lanes) if (lane.jobs === 0 && lane.backAtMs < now) lanes.delete(endpointId);
}
