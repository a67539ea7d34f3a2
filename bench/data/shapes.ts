import { setTimeout as pause } from 'node:timers/promises';
import type { Environment } from '../harness/environment.ts';
import { METRICS } from './event-source.ts';

const LOOK_EVERY_MS = 50;
const BUILT_WITHIN_MS = 300_000;

/** Waits until the rollups of all metrics answer: they are built from the events that are there. */
export async function untilShapesAreLive({ sql }: Environment, organizationId: string): Promise<void> {
  const deadline = performance.now() + BUILT_WITHIN_MS;
  for (;;) {
    const [row] = await sql<{ live: number }[]>`
      select count(*)::int as live from usage_shapes where organization_id = ${organizationId} and state = 'live'`;
    if (row!.live === METRICS.length) return;
    if (performance.now() > deadline) throw new Error(`only ${row!.live} of ${METRICS.length} shapes are live`);
    await pause(LOOK_EVERY_MS);
  }
}
