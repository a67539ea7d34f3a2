import { CatalogCache } from '../../../../src/areas/catalog/usage-shapes/storing-catalog.ts';
import { DoorFacts } from '../../../../src/areas/usage/ai-doors/door-facts.ts';
import type { StreamDeps } from '../../../../src/areas/usage/connectors/store-messages.ts';
import type { IncomingBatch, Verdict } from '../../../../src/areas/usage/events/incoming-event.ts';
import { parseEvent } from '../../../../src/areas/usage/events/parse-event.ts';
import { storeEvents } from '../../../../src/areas/usage/ingest-events/store-events.ts';
import type { Db, Sql } from '../../../../src/platform/db/connect.ts';
import { newId } from '../../../../src/platform/ids.ts';
import { createLog } from '../../../../src/platform/log/log.ts';

export const RECEIVED = '2024-03-10T12:00:00.000001Z';

/** An event as a client sends it; what is not given is made up. */
export interface Sent {
  transaction_id?: string;
  external_subscription_id?: string;
  code?: string;
  timestamp?: string | number;
  properties?: object;
  precise_total_amount_cents?: string;
}

export function incoming(organizationId: string, events: Sent[], changes: Partial<IncomingBatch> = {}): IncomingBatch {
  return {
    organization_id: organizationId,
    sandbox: false,
    atomic: true,
    received_at: RECEIVED,
    user_agent: 'test',
    remote_address: '127.0.0.1',
    events: events.map((event) => {
      const parsed = parseEvent({ transaction_id: newId(), external_subscription_id: 's', code: 'calls', ...event });
      if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors));
      return parsed.event;
    }),
    ...changes,
  };
}

/** Storage with everything it needs, and the jobs it enqueued. */
export function storage(sql: Sql) {
  const jobs: { name: string; payload: unknown }[] = [];
  const deps: StreamDeps = {
    sql,
    log: createLog({ level: 'silent', process: 'test' }),
    producer: { add: async (name, payload) => void jobs.push({ name, payload }) },
    catalogs: new CatalogCache(),
    doors: new DoorFacts(() => performance.now()),
    config: { WIRE_PREFIX: 'svc' },
  };
  return {
    jobs,
    deps,
    store: (...batches: IncomingBatch[]): Promise<Verdict[][]> => storeEvents(deps, batches),
  };
}

export interface MetricToMake {
  code?: string;
  aggregation_type?: string;
  field_name?: string | null;
  expression?: string | null;
  recurring?: boolean;
  /** Names of the live shape's properties; absent: no shape. */
  shape?: string[] | undefined;
}

/** A metric, with a live shape if asked for; raises the organization's version. */
export async function makeMetric(sql: Db, organizationId: string, metric: MetricToMake = {}) {
  const { code = 'calls', aggregation_type = 'count_agg', field_name = null, expression = null } = metric;
  const id = newId();
  const shapeId = newId();
  await sql`
    insert into billable_metrics (id, organization_id, code, name, aggregation_type, recurring, field_name, expression,
      created_at, updated_at)
    values (${id}, ${organizationId}, ${code}, ${code}, ${aggregation_type}, ${metric.recurring ?? false},
      ${field_name}, ${expression},
      ${RECEIVED}, ${RECEIVED})`;
  if (metric.shape)
    await sql`
      insert into usage_shapes (id, organization_id, billable_metric_id, code, aggregation_type, field_name,
        property_names, state, created_at)
      values (${shapeId}, ${organizationId}, ${id}, ${code}, ${aggregation_type}, ${field_name}, ${metric.shape},
        'live', ${RECEIVED})`;
  await sql`update organizations set shapes_version = shapes_version + 1 where id = ${organizationId}`;
  return { id, shapeId };
}
