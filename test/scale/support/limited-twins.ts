import { z } from 'zod';
import { type Ingress, startIngress } from '../../../src/ingress/start-ingress.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import type { Operation } from '../../../src/platform/operation.ts';
import { PATIENT_LIMITER_MS, type TestService } from '../../support/service.ts';

const log = createLog({ level: 'silent', process: 'test' });
export const LIMIT = 100;

/** Counts as an event does, and answers at once: only the limiter is asked. */
const limited: Operation = {
  name: 'limited',
  method: 'get',
  path: '/limited',
  permission: null,
  summary: 'Probe',
  tag: 'probes',
  category: 'events',
  answer: z.object({}),
  kind: 'read',
  // Where they are let through: an answer may come in a later second than the call.
  run: async () => {
    passed.set(second(), (passed.get(second()) ?? 0) + 1);
    return { ok: true };
  },
};
/** Calls let through by second. */
export const passed = new Map<number, number>();

/** Two ingress processes that only limit, on the Redis of a service. */
export async function openLimited(service: TestService): Promise<Ingress[]> {
  const config = { ...service.config, RATE_LIMIT_EVENTS: LIMIT };
  return Promise.all([1, 2].map(() => startIngress(config, [limited], log, PATIENT_LIMITER_MS)));
}

export const second = () => Math.floor(Date.now() / 1000);
