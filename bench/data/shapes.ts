import { setTimeout as pause } from 'node:timers/promises';
import { createProducer } from '../../src/platform/queue/producer.ts';
import type { Environment } from '../harness/environment.ts';

const LOOK_EVERY_MS = 50;
const BUILT_WITHIN_MS = 1_800_000;

/**
 * Lets the workers build rollups from the existing events and waits until all organizations have them. The sweep that
 * would enqueue the builds comes once a minute; they are enqueued here as it does it.
 */
export async function untilShapesAreLive(environment: Environment, organizationIds: string[]): Promise<void> {
  const { sql, redis, prefix } = environment;
  const producer = createProducer(redis, prefix);
  const building = () => sql<{ id: string; organization_id: string }[]>`
    select id, organization_id from usage_shapes
    where organization_id = any (${organizationIds}::uuid[]) and state = 'building'`;
  await producer.addMany(
    'rollup.build-shape',
    (await building()).map(({ id, organization_id }) => ({
      payload: { organization_id, shape_id: id },
      options: { id: `build-${id}` },
    })),
  );
  const deadline = performance.now() + BUILT_WITHIN_MS;
  while ((await building()).length > 0) {
    if (performance.now() > deadline) throw new Error('the rollups were not built in time');
    await pause(LOOK_EVERY_MS);
  }
  await producer.close();
}
