import { realNowMs } from '../../../platform/clock/real-clock.ts';

/** What this process itself holds of the lanes of endpoints. Others may hold more; whatever is here is not free. */
export interface OwnLanes {
  /** Lanes of an endpoint that jobs other than this one hold. */
  ofOthers(endpoint: string, job: string): number;
  hold(endpoint: string, job: string, held: { lanes: number; untilMs: number }): void;
  letGo(endpoint: string, job: string): void;
}

/** A lease that ends by itself is no longer counted: its job may hang. */
export function openOwnLanes(): OwnLanes {
  const endpoints = new Map<string, Map<string, { lanes: number; untilMs: number }>>();
  return {
    ofOthers(endpoint, job) {
      const now = realNowMs();
      let lanes = 0;
      for (const [holder, held] of endpoints.get(endpoint) ?? [])
        if (holder !== job && held.untilMs > now) lanes += held.lanes;
      return lanes;
    },
    hold(endpoint, job, held) {
      const jobs = endpoints.get(endpoint) ?? new Map<string, { lanes: number; untilMs: number }>();
      endpoints.set(endpoint, jobs.set(job, held));
    },
    letGo(endpoint, job) {
      const jobs = endpoints.get(endpoint);
      jobs?.delete(job);
      if (jobs?.size === 0) endpoints.delete(endpoint);
    },
  };
}
