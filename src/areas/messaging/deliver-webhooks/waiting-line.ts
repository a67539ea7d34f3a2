import { realNowMs } from '../../../platform/clock/real-clock.ts';
import type { WebhookEndpointId } from '../../../platform/ids.ts';

/** How many jobs of one endpoint a process holds, under way or waiting: more could not send at the same time. */
const JOBS_PER_ENDPOINT = 8;
/** Slots freed by other processes are not announced: a waiting job looks again after this time. */
const LOOK_AGAIN_MS = 250;
/** A job waits here no longer than this, so that a stopping process is soon done. */
const WAIT_AT_MOST_MS = 5000;

/** Time away of a job that goes back to the queue, in the middle and to either side (webhooks.md#sending, rule 5). */
const AWAY_MS = 250;
const AWAY_SPREAD_MS = 100;
/** Distance at which the jobs of a backlog come back one after the other. */
const APART_MS = 3;
/** Limits the line to 1 000 jobs; further deliveries wait as rows only, which costs nothing. */
const AWAY_AT_MOST_MS = 3000;

interface Lane {
  jobs: number;
  waiting: (() => void)[];
  /** When the last of those that went back comes again. */
  backAtMs: number;
}

/**
 * The jobs of this process that are to share the slots of their endpoint. A job without a slot goes back to the queue
 * for a quarter of a second; a few wait in line instead, so that a freed slot is used at once. Returning jobs are
 * spread out, because thousands that ask four times a second would leave no time for sending.
 */
export interface Line {
  /** False when the endpoint has as many jobs in this process as could send: the job has to go back. */
  enter(endpointId: WebhookEndpointId): boolean;
  leave(endpointId: WebhookEndpointId): void;
  /** Whether no delivery waits for this endpoint. */
  isFree(endpointId: WebhookEndpointId): boolean;
  /** Waits behind the others of this endpoint for a slot that may be free; false when it took too long. */
  wait(endpointId: WebhookEndpointId, sinceMs: number): Promise<boolean>;
  /** Slots of the endpoint came free: the first that waits for them may look. */
  freed(endpointId: WebhookEndpointId): void;
  /** When a job that has to go back should come again; null when too many are away already. */
  awayMs(endpointId: WebhookEndpointId): number | null;
}

export function openLine(): Line {
  const lanes = new Map<string, Lane>();
  const laneOf = (endpointId: WebhookEndpointId): Lane => {
    let lane = lanes.get(endpointId);
    if (!lane) {
      forgetOld(lanes);
      lane = { jobs: 0, waiting: [], backAtMs: 0 };
      lanes.set(endpointId, lane);
    }
    return lane;
  };
  return {
    enter(endpointId) {
      const lane = laneOf(endpointId);
      if (lane.jobs >= JOBS_PER_ENDPOINT) return false;
      lane.jobs += 1;
      return true;
    },
    leave(endpointId) {
      laneOf(endpointId).jobs -= 1;
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
    freed(endpointId) {
      laneOf(endpointId).waiting[0]?.();
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
